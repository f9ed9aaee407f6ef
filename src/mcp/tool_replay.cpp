// replay: one op as a script of its own, short enough to be read.
#include <fmt/format.h>

#include <algorithm>
#include <tracelens/error.hpp>
#include <tracelens/replay.hpp>

#include "mcp/clean_text.hpp"
#include "mcp/event_of_row.hpp"
#include "mcp/tool.hpp"
#include "mcp/tool_result.hpp"
#include "perf/core/dtype.hpp"

namespace tracelens::mcp {
namespace {

constexpr Argument kReplayArguments[] = {
    {.name = "trace", .is_required = true, .most = 4096},
    {.name = "event", .kind = ArgumentKind::kInteger},
    {.name = "row", .kind = ArgumentKind::kObject, .members = kRowArguments},
    {.name = "device"},
    // A script cannot be cut.
    {.name = "max_tokens",
     .kind = ArgumentKind::kInteger,
     .least = kLeastTokens,
     .most = kMostTokens,
     .otherwise = 4000},
};

// What `tracelens replay` writes knows far more (back-ends, values of indices, autograd), in 1,600 lines:
// no answer has room for them. Of that one's rules, these are how a call is made of what was recorded.
constexpr std::string_view kScript = R"py(import ast, json, re, statistics, torch

CALL = json.loads(r'''@CALL@''')
DEVICE = "@DEVICE@"
# Where PyTorch calls a type otherwise than the profiler: c10::Float8_e5m2 is float8_e5m2.
TYPES = {"float": "float32", "double": "float64", "half": "float16", "char": "int8",
         "signed char": "int8", "unsigned char": "uint8", "short": "int16", "short int": "int16",
         "unsigned short": "uint16", "short unsigned int": "uint16", "int": "int32",
         "unsigned int": "uint32", "long": "int64", "long int": "int64", "long long": "int64",
         "unsigned long": "uint64", "long unsigned int": "uint64", "complex<half>": "complex32",
         "complex<float>": "complex64", "complex<double>": "complex128"}
NUMBERS = ("", "Scalar", "ScalarList", "GenericList")


class Misfit(Exception):
    pass


def recorded(part, i, other):
    return CALL[part][i] if i < len(CALL[part] or []) else other


def tensor(dims, strides, kind):
    plain = kind.lower().replace("c10::", "")
    dtype = getattr(torch, TYPES.get(plain, plain), None)
    if not isinstance(dtype, torch.dtype):
        raise TypeError(f"this PyTorch has no type {kind!r}")
    if len(strides) != len(dims):  # not recorded: contiguous
        strides = [1] * len(dims)
        for d in range(len(dims) - 1, 0, -1):
            strides[d - 1] = strides[d] * max(dims[d], 1)
    extent = 1 + sum((d - 1) * s for d, s in zip(dims, strides)) if all(dims) else 0
    make = torch.randn if dtype.is_floating_point or dtype.is_complex else torch.zeros
    return make(extent, device=DEVICE).to(dtype).as_strided(dims, strides)


def number(text):
    try:
        return ast.literal_eval(text)
    except ValueError:
        return float(text)  # inf, -inf, nan


def value(argument, i):
    kind, given = str(getattr(argument, "real_type", argument.type)), CALL["types"][i]
    dims, strides = recorded("dims", i, []), recorded("strides", i, [])
    text, is_list = recorded("concrete", i, ""), bool(re.search(r"List\[|\[\d*\]", kind))
    if given == text == "" and not dims:
        made = argument.name == "device" and not any(t not in NUMBERS for t in CALL["types"])
        default = argument.default_value if argument.has_default_value() else None
        return torch.device(DEVICE) if made else default
    if ("Tensor" in kind) == (given in NUMBERS) or is_list != given.endswith("List"):
        raise Misfit(f"{argument.name} is a {kind}")
    if given == "TensorList":
        strides = strides if len(strides) == len(dims) else [[]] * len(dims)
        each = "long" if argument.name == "indices" else CALL["list_type"] or "float"
        return [tensor(d, s, each) for d, s in zip(dims, strides)]
    if "Tensor" in kind:
        return tensor(dims, strides, given)
    if "str" in kind:
        return text
    if "evice" in kind:
        return torch.device(DEVICE)
    items = [number(item) for item in text.strip("[]").split(",") if item.strip()]
    return items if is_list else number(text) if text else None


def arguments(schema):
    """Positional ones, and by name those that PyTorch takes no other way."""
    if len(schema) < len(CALL["types"]):
        raise Misfit(f"takes {len(schema)} arguments")
    positional, named = [], {}
    for i, argument in enumerate(schema):
        if i >= len(CALL["types"]):
            if not argument.has_default_value():
                raise Misfit(f"{argument.name} was not recorded")
        elif not argument.kwarg_only:
            positional.append(value(argument, i))
        elif (given := value(argument, i)) is not None:
            named[argument.name] = given
    return positional, named


def call():
    space, name = CALL["op"].split("::")
    packet, misfits = getattr(getattr(torch.ops, space), name), []
    overloads = [getattr(packet, each) for each in packet.overloads()]
    overloads.sort(key=lambda each: len(each._schema.arguments) != len(CALL["types"]))
    for op in overloads:
        try:
            return op, *arguments(op._schema.arguments)
        except Misfit as misfit:
            misfits.append(f"{op}: {misfit}")
    raise SystemExit("no overload fits: " + "; ".join(misfits))


op, positional, named = call()
for _ in range(3):
    op(*positional, **named)
times = []
for _ in range(20):
    start, end = (torch.cuda.Event(enable_timing=True) for _ in range(2))
    start.record(); op(*positional, **named); end.record(); end.synchronize()
    times.append(start.elapsed_time(end) * 1e3)
print(op, "median", round(statistics.median(times), 3), "us, recorded", CALL["recorded_us"])
)py";

// Bytes of the answer around the script and what it cannot know: the op, a kernel's name, notes.
constexpr std::size_t kBesideScript = 1500;

void put(std::string& script, std::string_view place, std::string_view text) {
  script.replace(script.find(place), place.size(), text);
}

bool is_plain_word(std::string_view text) {
  return std::ranges::all_of(text, [](char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_' ||
           c == ':' || c == '.';
  });
}

constexpr std::string_view kTensorList = "TensorList";

// Types of tensors that this program has never heard of, which PyTorch may know all the same.
void tell_types(const ReplayRecord& record, std::vector<std::string>& unknown) {
  for (const Value& type : record.call.types.items()) {
    const std::string& name = type.as_text();
    if (name.empty() || name.ends_with("List") || perf::element_bytes(name, Edition::kExtended))
      continue;
    std::string sentence = fmt::format(
        "type {}: the script stops where this PyTorch has none of that name", in_quotes(name));
    if (std::ranges::find(unknown, sentence) == unknown.end())
      unknown.push_back(std::move(sentence));
  }
}

bool has_strides_of_lists(const ReplayArguments& call) {
  const auto& types = call.types.items();
  const auto& strides = call.strides.items();
  for (std::size_t i = 0; i < types.size(); ++i)
    if (types[i].as_text() == kTensorList && (i >= strides.size() || strides[i].items().empty()))
      return false;
  return true;
}

std::vector<std::string> unknowns_of(const ReplayRecord& record) {
  std::vector<std::string> unknown{"values of tensors: random, or zeros for integers"};
  tell_types(record, unknown);
  if (record.call.strides.is_null())
    unknown.emplace_back("strides: taken as contiguous");
  else if (!has_strides_of_lists(record.call))
    unknown.emplace_back("strides of tensor lists: taken as contiguous");
  if (record.call.concrete.is_null()) unknown.emplace_back("scalars: left to the op's defaults");
  if (record.list_type.empty() &&
      std::ranges::any_of(record.call.types.items(),
                          [](const Value& type) { return type.as_text() == kTensorList; }))
    unknown.emplace_back("element type of tensor lists: taken as float");
  if (!record.copy.empty())
    unknown.emplace_back("this is a copy between host and GPU: only its size is reproduced");
  if (!record.autocast.empty()) unknown.emplace_back("autocast was on: cast the inputs as it did");
  if (record.forward) unknown.emplace_back("a backward op: what the forward call saved is random");
  return unknown;
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
  if (desk->trace().source().recorder == Recorder::kJax)
    throw ToolError{"HLO is replayed by `tracelens replay` alone: a script of PyTorch cannot"};
  const Replay replay = choose_replay(desk->trace(), {.uids = {event.row}});
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

  const auto max_tokens = static_cast<std::size_t>(call.integer("max_tokens"));
  const std::size_t needed =
      tokens_of(compact_json(script).size() + compact_json(array(unknown)).size() + kBesideScript);
  if (needed > max_tokens)
    throw ToolError{fmt::format(
        "the script takes {} tokens: {}", needed,
        needed <= static_cast<std::size_t>(kMostTokens)
            ? fmt::format("ask with max_tokens {}", needed)
            : fmt::format("have `tracelens replay TRACE --uid {} -o replay.py` run", record.uid))};

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
    .arguments = {kReplayArguments, page_arguments().subspan(1)},  // max_tokens is its own
    .more_output = replay_output,
    .run = run_replay};

}  // namespace tracelens::mcp
