// Any traces of two ranks, parted by a line "---", give a report or an Error; summaries survive the
// way to another process; a rewritten event is an event again.
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <tracelens/error.hpp>
#include <tracelens/read_trace.hpp>
#include <vector>

#include "analysis/ranks/alltoallv.hpp"
#include "analysis/ranks/check.hpp"
#include "analysis/ranks/clock_offsets.hpp"
#include "analysis/ranks/cost.hpp"
#include "analysis/ranks/long.hpp"
#include "analysis/ranks/p2p.hpp"
#include "analysis/ranks/rank_bytes.hpp"
#include "analysis/ranks/rank_timeline.hpp"
#include "analysis/ranks/rank_trace.hpp"
#include "analysis/ranks/run.hpp"
#include "analysis/ranks/sync.hpp"
#include "analysis/ranks/verdict.hpp"
#include "io/check.hpp"
#include "readers/chrome/event_texts.hpp"
#include "readers/chrome/strict_json.hpp"
#include "report/convert/fuse_event.hpp"

namespace tracelens {
namespace {

void rewrite_events(std::string_view text) {
  io::Stream first_pass = io::Stream::over("fuzz", text),
             second_pass = io::Stream::over("fuzz", text);
  EventTexts events{first_pass}, again{second_pass};
  FuseSurvey survey;
  while (const auto event = events.next()) survey.look_at(*event);
  const FuseOptions options{.python = true};
  RankEvents rank{3, survey.scales(), options, {.shift_ns = 5}};
  std::vector<RawMember> members;
  while (const auto event = again.next()) {
    std::string out;
    if (!rank.rewrite(*event, out)) {
      TL_CHECK(out.empty());
      continue;
    }
    const std::size_t size = out.size();
    out.append(json::kPadding, '\0');
    TL_CHECK(json::is_strict_json(std::string_view{out}.substr(0, size)));
    TL_CHECK(split_object(std::string_view{out}.substr(0, size), members));
  }
}

// Whatever the times are, nobody communicates and waits for longer than time passes.
void check_costs(const CollectiveRun& run) {
  for (const OperationCost& cost : operation_costs(run)) {
    const double sum = static_cast<double>(cost.communication_ns) + cost.wait_ns;
    TL_CHECK(cost.communication_ns < 0 /* wrapped */ || sum <= cost.dur_ns * (1 + 1e-9) + 1);
  }
}

void make_tables(std::vector<RankTrace> ranks, Edition edition) {
  CollectiveRun run{std::move(ranks), {.edition = edition, .gpus_per_node = 1}};
  const auto how = parse_aggregates(std::vector<std::string>{"mean", "std", "p90", "skew"});
  const auto sync = sync_collectives(run);
  const auto uneven = uneven_exchanges(run);
  std::vector<std::string> warnings = metadata_mismatches(run);
  static_cast<void>(missing_kernels(run));
  static_cast<void>(nccl_long(run));
  static_cast<void>(nccl_summary_long(run, {}));
  static_cast<void>(nccl_implicit_sync(run, sync));
  static_cast<void>(nccl_summary_implicit_sync(run, sync, how));
  static_cast<void>(straggler_summary(run, sync));
  static_cast<void>(nccl_all2allv(run, uneven));
  static_cast<void>(nccl_summary_all2allv(run, uneven, how));
  static_cast<void>(nccl_all2allv_heatmap(run, warnings));
  run.shift_clocks(estimate_clock_offsets(run).by_rank);
  check_costs(run);
  static_cast<void>(comm_verdict(run, {}));
  static_cast<void>(p2p(run));
  static_cast<void>(p2p_summary(run));
  static_cast<void>(rank_timeline(run));
  static_cast<void>(rank_timeline_spread(run));
  static_cast<void>(process_groups(run));
}

}  // namespace
}  // namespace tracelens

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace tracelens;
  const std::string_view bytes{reinterpret_cast<const char*>(data), size};
  constexpr std::string_view kParting = "\n---\n";
  const std::size_t parting = bytes.find(kParting);
  std::vector<std::string_view> parts{bytes.substr(0, parting)};
  if (parting != std::string_view::npos) parts.push_back(bytes.substr(parting + kParting.size()));
  try {
    std::vector<RankTrace> ranks;
    for (const std::string_view part : parts) {
      ranks.push_back(summarize_rank(read_trace_bytes("fuzz", part, {.threads = 1}), {}));
      ranks.back().rank = static_cast<std::int64_t>(ranks.size() - 1);
    }
    const std::string packed = to_bytes(ranks);
    TL_CHECK(to_bytes(ranks_from_bytes(packed)) == packed);
    make_tables(ranks, Edition::kExtended);
    make_tables(std::move(ranks), Edition::kReference);
  } catch (const Error&) {
    // refused
  }
  try {
    rewrite_events(parts.front());
  } catch (const Error&) {
    // no trace
  }
  return 0;
}
