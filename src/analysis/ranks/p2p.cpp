#include "analysis/ranks/p2p.hpp"

#include <algorithm>
#include <map>
#include <string>
#include <tuple>
#include <vector>

#include "analysis/ranks/run_columns.hpp"

namespace tracelens {
namespace {

using enum CollectiveField;

constexpr double kMib = 1024.0 * 1024.0;

// What a transfer took. Without one of its sides only its size is known.
struct Measured {
  const Transfer* transfer = nullptr;
  const CollectiveMessage* message = nullptr;
  const CollectiveKernel *send = nullptr, *receive = nullptr;  // null: not in the traces
  std::optional<double> bytes = {};
  std::optional<std::int64_t> transfer_ns = {}, sender_wait_ns = {}, receiver_wait_ns = {};
  std::optional<double> gbps = {};  // 10^9 bytes per second
};

Measured measure(const CollectiveRun& run, const Transfer& transfer) {
  Measured out{.transfer = &transfer};
  if (transfer.send) out.send = &run.kernel(*transfer.send);
  if (transfer.receive) out.receive = &run.kernel(*transfer.receive);
  out.message = &run.message(transfer.send ? *transfer.send : *transfer.receive);
  if (const auto mib = run.mib(*out.message, transfer.send ? kInElements : kOutElements))
    out.bytes = *mib * kMib;
  if (out.send == nullptr || out.receive == nullptr) return out;
  out.transfer_ns = std::min(out.send->dur_ns, out.receive->dur_ns);
  const std::int64_t started = std::max(out.send->ts_ns, out.receive->ts_ns);
  out.sender_wait_ns = minus_ns(started, out.send->ts_ns);
  out.receiver_wait_ns = minus_ns(started, out.receive->ts_ns);
  if (out.bytes && *out.transfer_ns > 0)
    out.gbps = *out.bytes / static_cast<double>(*out.transfer_ns);  // bytes per ns
  return out;
}

std::optional<double> us_or_none(const std::optional<std::int64_t>& ns) {
  return ns ? std::optional{us(*ns)} : std::nullopt;
}

// A time of one side of a transfer.
std::optional<double> us_of(const CollectiveKernel* side, std::int64_t CollectiveKernel::*ns) {
  return side == nullptr ? std::nullopt : std::optional{us(side->*ns)};
}

std::optional<double> mb_or_none(const std::optional<double>& bytes) {
  return bytes ? std::optional{*bytes / 1e6} : std::nullopt;
}

std::optional<std::int64_t> rank_or_none(std::int64_t rank) {
  return rank == kAbsent ? std::nullopt : std::optional{rank};
}

}  // namespace

std::optional<Table> p2p(const CollectiveRun& run) {
  const Matching& matching = run.matching();
  if (matching.transfers.empty()) return std::nullopt;
  ColumnSet<Measured> columns{
      {{"process group", Kind::kText, "id", "group the transfer ran in"},
       [&matching](const Measured& row) { return matching.groups[row.transfer->group].id; }},
      {{"from rank", Kind::kInteger, "id", "rank that sends"},
       [](const Measured& row) { return rank_or_none(row.transfer->from); }},
      {{"to rank", Kind::kInteger, "id", "rank that receives"},
       [](const Measured& row) { return rank_or_none(row.transfer->to); }}};
  add_field_columns(columns, run, {kDtype});
  columns.add(
      {{{"size (MB)", Kind::kReal, "MB", "size of the message, 10^6 bytes"},
        [](const Measured& row) { return mb_or_none(row.bytes); }},
       {{"send ts", Kind::kReal, "µs", "start of the send; empty: not in the trace"},
        [](const Measured& row) { return us_of(row.send, &CollectiveKernel::ts_ns); }},
       {{"send dur", Kind::kReal, "µs", "its duration, waiting included"},
        [](const Measured& row) { return us_of(row.send, &CollectiveKernel::dur_ns); }},
       {{"receive ts", Kind::kReal, "µs", "start of the receive; empty: not in the trace"},
        [](const Measured& row) { return us_of(row.receive, &CollectiveKernel::ts_ns); }},
       {{"receive dur", Kind::kReal, "µs", "its duration, waiting included"},
        [](const Measured& row) { return us_of(row.receive, &CollectiveKernel::dur_ns); }},
       {{"transfer time", Kind::kReal, "µs", "the shorter of the two: the transfer itself"},
        [](const Measured& row) { return us_or_none(row.transfer_ns); }},
       {{"sender wait", Kind::kReal, "µs", "time the sender waited for the receiver"},
        [](const Measured& row) { return us_or_none(row.sender_wait_ns); }},
       {{"receiver wait", Kind::kReal, "µs", "time the receiver waited for the sender"},
        [](const Measured& row) { return us_or_none(row.receiver_wait_ns); }},
       {{"bandwidth (GB/s)", Kind::kReal, "GB/s", "size over transfer time, 10^9 bytes per second"},
        &Measured::gbps}});
  Table table = columns.make_table("p2p", "Sends and their receives");
  for (const Transfer& transfer : matching.transfers) columns.append(table, measure(run, transfer));
  return table;
}

std::optional<Table> p2p_summary(const CollectiveRun& run) {
  const Matching& matching = run.matching();
  if (matching.transfers.empty()) return std::nullopt;
  struct Pair {
    std::vector<std::int64_t> transfer_ns, sender_wait_ns, receiver_wait_ns;
    std::vector<double> gbps;
    double bytes = 0;
    std::int64_t unmatched = 0, exposed_ns = 0;
  };
  using Key = std::tuple<std::uint32_t, std::int64_t, std::int64_t, std::optional<double>>;
  std::map<Key, Pair> pairs;
  for (const Transfer& transfer : matching.transfers) {
    const Measured measured = measure(run, transfer);
    Pair& pair = pairs[{transfer.group, transfer.from, transfer.to, measured.bytes}];
    pair.bytes += measured.bytes.value_or(0);
    for (const CollectiveKernel* const side : {measured.send, measured.receive})
      if (side != nullptr) pair.exposed_ns = plus_ns(pair.exposed_ns, side->exposed_ns);
    if (!measured.transfer_ns) {
      ++pair.unmatched;
      continue;
    }
    pair.transfer_ns.push_back(*measured.transfer_ns);
    pair.sender_wait_ns.push_back(*measured.sender_wait_ns);
    pair.receiver_wait_ns.push_back(*measured.receiver_wait_ns);
    if (measured.gbps) pair.gbps.push_back(*measured.gbps);
  }
  const ColumnSpec columns[] = {
      {"process group", Kind::kText, "id", "group the transfers ran in"},
      {"from rank", Kind::kInteger, "id", "rank that sends"},
      {"to rank", Kind::kInteger, "id", "rank that receives"},
      {"size (MB)", Kind::kReal, "MB", "size of each message, 10^6 bytes"},
      {"count", Kind::kInteger, "", "transfers with both sides in the traces"},
      {"unmatched", Kind::kInteger, "", "transfers with one side only"},
      {"total (MB)", Kind::kReal, "MB", "size of all messages"},
      {"transfer time (ms)", Kind::kReal, "ms", "all transfers, waiting not included"},
      {"exposed (ms)", Kind::kReal, "ms",
       "time of both kernels, waiting included, in which their ranks compute nothing"},
      {"transfer time mean (us)", Kind::kReal, "µs", "per transfer"},
      {"sender wait mean (us)", Kind::kReal, "µs", "time the sender waited for the receiver"},
      {"receiver wait mean (us)", Kind::kReal, "µs", "time the receiver waited for the sender"},
      {"bandwidth mean (GB/s)", Kind::kReal, "GB/s",
       "mean of the transfers, 10^9 bytes per second"},
      {"bandwidth min (GB/s)", Kind::kReal, "GB/s", "slowest transfer"},
      {"bandwidth max (GB/s)", Kind::kReal, "GB/s", "fastest transfer"},
  };
  Table table{"p2p_summary", "Sends and receives by pair of ranks and size", columns};
  for (auto& [key, pair] : pairs) {
    const auto& [group, from, to, bytes] = key;
    const GroupStats time = stats_of_ns(pair.transfer_ns), rate = stats_of(pair.gbps);
    table.add_row(matching.groups[group].id, rank_or_none(from), rank_or_none(to),
                  mb_or_none(bytes), time.count, pair.unmatched, pair.bytes / 1e6, time.sum / 1e3,
                  ms(pair.exposed_ns), time.mean, stats_of_ns(pair.sender_wait_ns).mean,
                  stats_of_ns(pair.receiver_wait_ns).mean, rate.mean, rate.min, rate.max);
  }
  table.sort_by("transfer time (ms)", Order::kDescending);
  return table;
}

}  // namespace tracelens
