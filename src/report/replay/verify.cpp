// A script's results beside what the trace recorded.
#include <fmt/format.h>

#include <algorithm>
#include <limits>
#include <tracelens/error.hpp>
#include <tracelens/json.hpp>
#include <tracelens/replay.hpp>
#include <tracelens/tree.hpp>

#include "report/replay/names.hpp"
#include "report/replay/records.hpp"

namespace tracelens {
namespace {

constexpr double kAlike = 0.15;  // times that differ by less are the same
constexpr double kLongUs = 20;   // below, launching and caches matter more than the op

const ColumnSpec kColumns[] = {
    {"id", Kind::kInteger, "id", "number of the record in the script"},
    {"op", Kind::kText, "", "op as traced"},
    {"Input Dims", Kind::kNested, "", "shapes of its arguments"},
    {"count", Kind::kInteger, "", "calls in the trace with these arguments"},
    {"recorded", Kind::kReal, "us", "mean GPU time of a call in the trace"},
    {"replayed", Kind::kReal, "us",
     "GPU time of a call when replayed: of its kernels alone where the script was run with "
     "--kernels, else between two points of the GPU's queue"},
    {"cache", Kind::kText, "",
     "what the L2 cache held in the replay that came nearest to the recorded time: nothing of use "
     "(cold), the inputs (warm), another op's output (written); known where the script was run with "
     "--kernels"},
    {"replayed cold", Kind::kReal, "us", "GPU time of a call when replayed with a cold cache"},
    {"ratio", Kind::kReal, "", "replayed time / recorded time"},
    {"same kernel", Kind::kBool, "", "whether the longest kernel of each ran in the other, too"},
    {"verdict", Kind::kText, "",
     "reproduced, faster or slower in isolation, other kernel chosen, or not run"},
    {"why", Kind::kText, "text", "why it did not run"},
};

double number_of(const Value& result, std::string_view key) {
  const Value* const value = result.find(key);
  return value == nullptr || !value->is_number() ? 0 : value->as_real();
}

std::string_view text_of(const Value& result, std::string_view key) {
  const Value* const value = result.find(key);
  return value == nullptr ? std::string_view{} : std::string_view{value->as_text()};
}

std::string_view verdict_of(double ratio, std::optional<bool> same_kernel) {
  if (same_kernel == false) return "other kernel chosen";
  if (ratio < 1 - kAlike) return "faster in isolation";
  return ratio > 1 + kAlike ? "slower in isolation" : "reproduced";
}

// XLA names the kernels it makes after instructions of the module, in which a replay is alone.
bool is_named_by_xla(std::string_view kernel) {
  for (const std::string_view word : {"fusion", "wrapped_", "command_buffer"})
    if (kernel.find(word) != kernel.npos) return true;
  return false;
}

std::optional<bool> same_main_kernel(const Value& result, const ReplayRecord& record) {
  const Value* const kernels = result.find("kernels");
  if (kernels == nullptr || kernels->items().empty() || record.kernels.empty()) return std::nullopt;
  const std::string &now = kernels->items().front().as_text(), &then = record.kernels.front();
  if (!record.hlo.empty() && is_named_by_xla(now) && is_named_by_xla(then)) return std::nullopt;
  // Of two that take about as long, either may be the longest.
  return std::ranges::find(record.kernels, now) != record.kernels.end() &&
         std::ranges::any_of(kernels->items(),
                             [&](const Value& each) { return each.as_text() == then; });
}

void add_row(Table& table, const Value& result, const ReplayRecord& record) {
  const double recorded =
      static_cast<double>(record.kernel_ns) / 1e3 / static_cast<double>(record.count);
  const bool ran = text_of(result, "status") == "ok";
  const double alone = number_of(result, "kernel_us");
  const double replayed = alone > 0 ? alone : number_of(result, "median_us");
  const auto if_any = [](bool known, double value) {
    return known && value > 0 ? std::optional{value} : std::nullopt;
  };
  const std::optional<bool> same = same_main_kernel(result, record);
  const bool comparable = ran && recorded > 0 && replayed > 0;
  std::string_view verdict = ran ? "no GPU work to compare" : "not run";
  if (comparable) verdict = verdict_of(replayed / recorded, same);
  const Value* const by_cache = result.find("kernel_us_by_cache");
  const double cold = by_cache == nullptr ? 0 : number_of(*by_cache, "cold");
  const std::string_view why = ran ? "" : text_of(result, "reason");
  table.add_row(static_cast<std::int64_t>(number_of(result, "id")), record.call.op,
                record.call.dims, record.count, if_any(true, recorded), if_any(ran, replayed),
                text_of(result, "cache"), if_any(ran, cold),
                if_any(comparable, comparable ? replayed / recorded : 0), same, verdict, why);
}

}  // namespace

Table verify_replay(const Trace& trace, std::string_view results, std::string_view where) {
  const std::optional<Value> parsed = parse_json_value(results);
  const Value* const rows = parsed ? parsed->find("results") : nullptr;
  if (rows == nullptr || !text_of(*parsed, "format").starts_with("tracelens replay results"))
    throw Error{where, "not the results of a replay: run the script with --json FILE"};

  const Tree tree = build_tree(trace);
  RecordBuilder builder{trace, tree};
  constexpr std::size_t kNone = std::numeric_limits<std::size_t>::max();
  std::vector<std::size_t> by_node(tree.size(), kNone);
  for (std::uint32_t row = 0; row < tree.size(); ++row)
    if (builder.is_replayable({row})) by_node[row] = builder.count({row});
  const std::vector<ReplayRecord> records = std::move(builder).finish();

  Table table{"replay", "recorded against replayed GPU time, op by op", kColumns};
  for (const Value& result : rows->items()) {
    const Value* const uid = result.find("uid");
    const bool in_range = uid != nullptr && uid->is_int() && uid->as_int() >= 0 &&
                          uid->as_int() < static_cast<std::int64_t>(trace.size());
    const EventId event{in_range ? static_cast<std::uint32_t>(uid->as_int()) : 0};
    const NodeId node = in_range ? tree.node(event) : NodeId{};
    const std::size_t index = node.valid() ? by_node[node.row] : kNone;
    if (index >= records.size() || !may_be_called(records[index].call.op, text_of(result, "op")))
      throw Error{where, fmt::format("made from another trace: its event {} is no {}",
                                     in_range ? event.row : 0, text_of(result, "op"))};
    add_row(table, result, records[index]);
  }
  return table;
}

std::string verify_summary(const Table& verified) {
  const std::span verdicts = verified.column("verdict").texts();
  const std::span recorded = verified.column("recorded").reals();
  const std::span cold = verified.column("replayed cold").reals();
  std::size_t ran = 0, is_long = 0, reproduced = 0, when_cold = 0;
  bool knows_cold = false;
  for (std::size_t row = 0; row < verified.rows(); ++row) {
    ran += verdicts[row] == "not run" ? 0 : 1;
    knows_cold = knows_cold || cold[row] > 0;  // a missing one is NaN
    if (!(recorded[row] > kLongUs)) continue;
    ++is_long;
    reproduced += verdicts[row] == "reproduced" ? 1 : 0;
    when_cold += verdicts[row] != "other kernel chosen" && cold[row] > 0 &&
                         verdict_of(cold[row] / recorded[row], std::nullopt) == "reproduced"
                     ? 1
                     : 0;
  }
  return fmt::format(
      "{} of {} ops ran; {} of the {} above {:.0f} us were reproduced within {:.0f}%{}", ran,
      verified.rows(), reproduced, is_long, kLongUs, 100 * kAlike,
      knows_cold ? fmt::format(", {} with a cold cache alone", when_cold) : "");
}

}  // namespace tracelens
