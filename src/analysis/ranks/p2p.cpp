#include "analysis/ranks/p2p.hpp"

#include <algorithm>
#include <map>
#include <string>
#include <tuple>
#include <vector>

#include "analysis/kit/group_stats.hpp"
#include "tree/time_math.hpp"

namespace tracelens {
namespace {

using enum CollectiveField;

constexpr double kMib = 1024.0 * 1024.0;

// What a transfer took. Without one of its sides only its size is known.
struct Measured {
  const CollectiveMessage* message = nullptr;
  std::optional<double> bytes;
  std::optional<std::int64_t> transfer_ns, sender_wait_ns, receiver_wait_ns;
  std::optional<double> gbps;  // 10^9 bytes per second
};

Measured measure(const CollectiveRun& run, const Transfer& transfer) {
  Measured out;
  out.message = &run.message(transfer.send ? *transfer.send : *transfer.receive);
  if (const auto mib = run.mib(*out.message, transfer.send ? kInElements : kOutElements))
    out.bytes = *mib * kMib;
  if (!transfer.send || !transfer.receive) return out;
  const CollectiveKernel &send = run.kernel(*transfer.send),
                         &receive = run.kernel(*transfer.receive);
  out.transfer_ns = std::min(send.dur_ns, receive.dur_ns);
  const std::int64_t started = std::max(send.ts_ns, receive.ts_ns);
  out.sender_wait_ns = minus_ns(started, send.ts_ns);
  out.receiver_wait_ns = minus_ns(started, receive.ts_ns);
  if (out.bytes && *out.transfer_ns > 0)
    out.gbps = *out.bytes / static_cast<double>(*out.transfer_ns);  // bytes per ns
  return out;
}

std::optional<double> us_or_none(const std::optional<std::int64_t>& ns) {
  return ns ? std::optional{us(*ns)} : std::nullopt;
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
  const ColumnSpec columns[] = {
      {"process group", Kind::kText, "id", "group the transfer ran in"},
      {"from rank", Kind::kInteger, "id", "rank that sends"},
      {"to rank", Kind::kInteger, "id", "rank that receives"},
      run.column(kDtype),
      {"size (MB)", Kind::kReal, "MB", "size of the message, 10^6 bytes"},
      {"send ts", Kind::kReal, "µs", "start of the send; empty: not in the trace"},
      {"send dur", Kind::kReal, "µs", "its duration, waiting included"},
      {"receive ts", Kind::kReal, "µs", "start of the receive; empty: not in the trace"},
      {"receive dur", Kind::kReal, "µs", "its duration, waiting included"},
      {"transfer time", Kind::kReal, "µs", "the shorter of the two: the transfer itself"},
      {"sender wait", Kind::kReal, "µs", "time the sender waited for the receiver"},
      {"receiver wait", Kind::kReal, "µs", "time the receiver waited for the sender"},
      {"bandwidth (GB/s)", Kind::kReal, "GB/s", "size over transfer time, 10^9 bytes per second"},
  };
  Table table{"p2p", "Sends and their receives", columns};
  RowCells cells;
  for (const Transfer& transfer : matching.transfers) {
    const Measured measured = measure(run, transfer);
    cells.clear();
    cells.add(matching.groups[transfer.group].id);
    cells.add(rank_or_none(transfer.from));
    cells.add(rank_or_none(transfer.to));
    cells.add(run.cell(*measured.message, kDtype));
    cells.add(mb_or_none(measured.bytes));
    for (const auto& side : {transfer.send, transfer.receive}) {
      cells.add(side ? std::optional{us(run.kernel(*side).ts_ns)} : std::nullopt);
      cells.add(side ? std::optional{us(run.kernel(*side).dur_ns)} : std::nullopt);
    }
    cells.add(us_or_none(measured.transfer_ns));
    cells.add(us_or_none(measured.sender_wait_ns));
    cells.add(us_or_none(measured.receiver_wait_ns));
    cells.add(measured.gbps);
    table.append(cells.cells());
  }
  return table;
}

std::optional<Table> p2p_summary(const CollectiveRun& run) {
  const Matching& matching = run.matching();
  if (matching.transfers.empty()) return std::nullopt;
  struct Pair {
    std::vector<std::int64_t> transfer_ns, sender_wait_ns, receiver_wait_ns;
    std::vector<double> gbps;
    double bytes = 0;
    std::int64_t unmatched = 0;
  };
  using Key = std::tuple<std::uint32_t, std::int64_t, std::int64_t, std::optional<double>>;
  std::map<Key, Pair> pairs;
  for (const Transfer& transfer : matching.transfers) {
    const Measured measured = measure(run, transfer);
    Pair& pair = pairs[{transfer.group, transfer.from, transfer.to, measured.bytes}];
    pair.bytes += measured.bytes.value_or(0);
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
                  time.mean, stats_of_ns(pair.sender_wait_ns).mean,
                  stats_of_ns(pair.receiver_wait_ns).mean, rate.mean, rate.min, rate.max);
  }
  table.sort_by("transfer time (ms)", Order::kDescending);
  return table;
}

}  // namespace tracelens
