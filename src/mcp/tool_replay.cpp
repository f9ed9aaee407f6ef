// replay: one op as a script of its own, short enough to be read.
#include <fmt/format.h>

#include <algorithm>
#include <tracelens/error.hpp>
#include <tracelens/replay.hpp>

#include "mcp/clean_text.hpp"
#include "mcp/event_of_row.hpp"
#include "mcp/tool.hpp"
#include "mcp/tool_result.hpp"

namespace tracelens::mcp {
namespace {

constexpr Argument kReplayArguments[] = {
    {.name = "trace", .is_required = true, .most = 4096},
    {.name = "event", .kind = ArgumentKind::kInteger},
    {.name = "row", .kind = ArgumentKind::kObject, .members = kRowArguments},
    {.name = "device"},
};

// What `tracelens replay` writes knows far more (back-ends, copies, autograd), in 1,900 lines.
constexpr std::string_view kScript = R"py(import ast, json, statistics, torch

CALL = json.loads(r'''@CALL@''')
DEVICE = "@DEVICE@"
TYPES = {"float": torch.float32, "double": torch.float64, "c10::Half": torch.float16,
         "c10::BFloat16": torch.bfloat16, "int": torch.int32, "long int": torch.int64,
         "bool": torch.bool, "signed char": torch.int8, "unsigned char": torch.uint8}


def tensor(dims, strides, kind):
    dtype = TYPES[kind]
    extent = 1 + sum((d - 1) * s for d, s in zip(dims, strides)) if all(dims) else 0
    flat = torch.randn(extent, device=DEVICE) if dtype.is_floating_point else \
        torch.zeros(extent, device=DEVICE)
    return flat.to(dtype).as_strided(dims, strides)


def contiguous(dims):
    strides, step = [], 1
    for size in reversed(dims):
        strides.insert(0, step)
        step *= max(size, 1)
    return strides


def argument(i):
    dims, kind = CALL["dims"][i], CALL["types"][i]
    text = (CALL["concrete"] or [])[i] if i < len(CALL["concrete"] or []) else ""
    if kind in TYPES:
        strides = (CALL["strides"] or {})[i] if CALL["strides"] else contiguous(dims)
        return tensor(dims, strides or contiguous(dims), kind)
    if kind == "TensorList":
        return [tensor(each, contiguous(each), CALL["list_type"] or "float") for each in dims]
    return ast.literal_eval(text) if text else None


op = getattr(getattr(torch.ops, CALL["op"].split("::")[0]), CALL["op"].split("::")[1])
arguments = [argument(i) for i in range(len(CALL["types"]))]
while arguments and arguments[-1] is None:
    arguments.pop()
for _ in range(3):
    op(*arguments)
times = []
for _ in range(20):
    start, end = (torch.cuda.Event(enable_timing=True) for _ in range(2))
    start.record(); op(*arguments); end.record(); end.synchronize()
    times.append(start.elapsed_time(end) * 1e3)
print(CALL["op"], "median", round(statistics.median(times), 3), "us, recorded", CALL["recorded_us"])
)py";

void put(std::string& script, std::string_view place, std::string_view text) {
  script.replace(script.find(place), place.size(), text);
}

bool is_plain_word(std::string_view text) {
  return std::ranges::all_of(text, [](char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_' ||
           c == ':' || c == '.';
  });
}

std::vector<std::string> unknowns_of(const ReplayRecord& record) {
  std::vector<std::string> unknown{"values of tensors: random, or zeros for integers"};
  if (record.call.strides.is_null()) unknown.emplace_back("strides: taken as contiguous");
  if (record.call.concrete.is_null()) unknown.emplace_back("scalars: left to the op's defaults");
  if (record.list_type.empty() &&
      compact_json(record.call.types).find("TensorList") != std::string::npos)
    unknown.emplace_back("element type of tensor lists: taken as float");
  if (!record.copy.empty())
    unknown.emplace_back("this is a copy between host and GPU: only its size is reproduced");
  if (!record.autocast.empty()) unknown.emplace_back("autocast was on: cast the inputs as it did");
  if (record.forward) unknown.emplace_back("a backward op: what the forward call saved is random");
  return unknown;
}

// The op that an event is, or that launched it.
std::uint64_t op_of(TraceDesk& desk, EventId event) {
  const Tree& tree = desk.tree();
  const NodeId node = tree.node(event);
  if (!node.valid()) throw ToolError{"this event is not in the call tree: name an op's event"};
  const NodeId op = tree.is_op(node) ? node : tree.nearest_op(node);
  if (!op.valid()) throw ToolError{"no op launched this event: name an op's event"};
  return tree.event(op).row;
}

Value run_replay(Call& call) {
  const TraceStore::Lease desk = call.open_trace();
  if (call.value("event").is_null() == call.value("row").is_null())
    throw ToolError{"give event, or row {table, key}"};
  const EventId event = call.value("row").is_null()
                            ? checked_event(desk->trace(), call.integer("event"))
                            : event_of_row(*desk, call.value("row"), call.control());
  const std::string device = call.text("device").empty() ? "cuda" : call.text("device");
  if (!is_plain_word(device))
    throw ToolError{"device: expected a device of PyTorch such as cuda:1"};
  const std::uint64_t uid = op_of(*desk, event);
  const Replay replay = choose_replay(desk->trace(), {.uids = {uid}});
  if (replay.is_jax)
    throw ToolError{"HLO is replayed by `tracelens replay` alone: a script of PyTorch cannot"};
  if (replay.records.empty())
    throw ToolError{"nothing can be replayed of this event: it has no shapes"};
  const ReplayRecord& record = replay.records.front();
  if (!is_plain_word(record.call.op) || record.call.op.find("::") == std::string::npos)
    throw ToolError{fmt::format("{} is no operator of PyTorch", in_quotes(record.call.op))};
  const double recorded_us = static_cast<double>(record.kernel_ns) / 1e3 /
                             static_cast<double>(std::max<std::uint64_t>(record.count, 1));
  std::string data = compact_json(object({{"op", record.call.op},
                                          {"types", record.call.types},
                                          {"dims", record.call.dims},
                                          {"strides", record.call.strides},
                                          {"concrete", record.call.concrete},
                                          {"list_type", record.list_type},
                                          {"recorded_us", recorded_us}}));
  // Nothing in it may end the text of the script or the block around it.
  for (char& c : data)
    if (c == '\'' || c == '`') c = '?';
  std::string script{kScript};
  put(script, "@CALL@", data);
  put(script, "@DEVICE@", device);
  const std::vector<std::string> unknown = unknowns_of(record);

  Answer answer;
  answer.lead = fmt::format("```python\n{}```\n", script);
  answer.grid.columns = {{.name = "op", .from_trace = true},
                         {.name = "event", .unit = "id"},
                         {.name = "calls"},
                         {.name = "recorded_us", .unit = "us"},
                         {.name = "kernel", .from_trace = true}};
  answer.grid.rows.push_back({record.call.op, static_cast<std::int64_t>(record.uid),
                              static_cast<std::int64_t>(record.count), recorded_us,
                              record.kernels.empty() ? Value{} : Value{record.kernels.front()}});
  answer.total = 1;
  answer.tail = "What it cannot know:\n";
  for (const std::string& each : unknown) answer.tail += fmt::format("- {}\n", each);
  answer.more = {{"script", script}, {"unknown", array(unknown)}};
  answer.notes.push_back(
      fmt::format("the full script, with back-ends and kernels: tracelens replay TRACE "
                  "--uid {} -o replay.py",
                  record.uid));
  return call.result(std::move(answer), &*desk);
}

Members replay_output() {
  return {{"script", type_schema("string")}, {"unknown", type_schema("array")}};
}

}  // namespace

const Tool kReplayTool{
    .name = "replay",
    .title = "Reproducer of an op",
    .description =
        "A PyTorch script that runs one op of the trace again and times it. Give the op's "
        "event or a row. Runs nothing itself.",
    .arguments = {kReplayArguments, page_arguments()},
    .more_output = replay_output,
    .run = run_replay};

}  // namespace tracelens::mcp
