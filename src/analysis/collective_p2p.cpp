#include "analysis/collective_p2p.hpp"

#include <algorithm>
#include <map>
#include <string>
#include <tuple>
#include <vector>

#include "analysis/group_stats.hpp"
#include "tree/time_math.hpp"

namespace tracelens {
namespace {

using enum CollectiveField;

// What a transfer took. Without one of its sides only its size is known.
struct Measured {
  const CollectiveMessage* message = nullptr;
  std::optional<double> mib;
  std::optional<std::int64_t> transfer_ns, sender_wait_ns, receiver_wait_ns;
  std::optional<double> gibps;
};

Measured measure(const CollectiveRun& run, const Transfer& transfer) {
  Measured out;
  out.message = &run.message(transfer.send ? *transfer.send : *transfer.receive);
  out.mib = run.mib(*out.message, transfer.send ? kInElements : kOutElements);
  if (!transfer.send || !transfer.receive) return out;
  const CollectiveKernel &send = run.kernel(*transfer.send),
                         &receive = run.kernel(*transfer.receive);
  out.transfer_ns = std::min(send.dur_ns, receive.dur_ns);
  const std::int64_t started = std::max(send.ts_ns, receive.ts_ns);
  out.sender_wait_ns = minus_ns(started, send.ts_ns);
  out.receiver_wait_ns = minus_ns(started, receive.ts_ns);
  if (out.mib && *out.transfer_ns > 0)
    out.gibps = *out.mib / 1024 / (static_cast<double>(*out.transfer_ns) / 1e9);
  return out;
}

std::optional<double> us_or_none(const std::optional<std::int64_t>& ns) {
  return ns ? std::optional{us(*ns)} : std::nullopt;
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
      {"size (MB)", Kind::kReal, "MiB", "size of the message"},
      {"send ts", Kind::kReal, "µs", "start of the send; empty: not in the trace"},
      {"send dur", Kind::kReal, "µs", "its duration, waiting included"},
      {"receive ts", Kind::kReal, "µs", "start of the receive; empty: not in the trace"},
      {"receive dur", Kind::kReal, "µs", "its duration, waiting included"},
      {"transfer time", Kind::kReal, "µs", "the shorter of the two: the transfer itself"},
      {"sender wait", Kind::kReal, "µs", "time the sender waited for the receiver"},
      {"receiver wait", Kind::kReal, "µs", "time the receiver waited for the sender"},
      {"bandwidth (GB/s)", Kind::kReal, "GiB/s", "size over transfer time"},
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
    cells.add(measured.mib);
    for (const auto& side : {transfer.send, transfer.receive}) {
      cells.add(side ? std::optional{us(run.kernel(*side).ts_ns)} : std::nullopt);
      cells.add(side ? std::optional{us(run.kernel(*side).dur_ns)} : std::nullopt);
    }
    cells.add(us_or_none(measured.transfer_ns));
    cells.add(us_or_none(measured.sender_wait_ns));
    cells.add(us_or_none(measured.receiver_wait_ns));
    cells.add(measured.gibps);
    table.append(cells.cells());
  }
  return table;
}

std::optional<Table> p2p_summary(const CollectiveRun& run) {
  const Matching& matching = run.matching();
  if (matching.transfers.empty()) return std::nullopt;
  struct Pair {
    std::vector<std::int64_t> transfer_ns, sender_wait_ns, receiver_wait_ns;
    std::vector<double> gibps;
    double mib = 0;
    std::int64_t unmatched = 0;
  };
  using Key = std::tuple<std::uint32_t, std::int64_t, std::int64_t, std::optional<double>>;
  std::map<Key, Pair> pairs;
  for (const Transfer& transfer : matching.transfers) {
    const Measured measured = measure(run, transfer);
    Pair& pair = pairs[{transfer.group, transfer.from, transfer.to, measured.mib}];
    pair.mib += measured.mib.value_or(0);
    if (!measured.transfer_ns) {
      ++pair.unmatched;
      continue;
    }
    pair.transfer_ns.push_back(*measured.transfer_ns);
    pair.sender_wait_ns.push_back(*measured.sender_wait_ns);
    pair.receiver_wait_ns.push_back(*measured.receiver_wait_ns);
    if (measured.gibps) pair.gibps.push_back(*measured.gibps);
  }
  const ColumnSpec columns[] = {
      {"process group", Kind::kText, "id", "group the transfers ran in"},
      {"from rank", Kind::kInteger, "id", "rank that sends"},
      {"to rank", Kind::kInteger, "id", "rank that receives"},
      {"size (MB)", Kind::kReal, "MiB", "size of each message"},
      {"count", Kind::kInteger, "", "transfers with both sides in the traces"},
      {"unmatched", Kind::kInteger, "", "transfers with one side only"},
      {"total (MB)", Kind::kReal, "MiB", "size of all messages"},
      {"transfer time (ms)", Kind::kReal, "ms", "all transfers, waiting not included"},
      {"transfer time mean (us)", Kind::kReal, "µs", "per transfer"},
      {"sender wait mean (us)", Kind::kReal, "µs", "time the sender waited for the receiver"},
      {"receiver wait mean (us)", Kind::kReal, "µs", "time the receiver waited for the sender"},
      {"bandwidth mean (GB/s)", Kind::kReal, "GiB/s", "mean of the transfers"},
      {"bandwidth min (GB/s)", Kind::kReal, "GiB/s", "slowest transfer"},
      {"bandwidth max (GB/s)", Kind::kReal, "GiB/s", "fastest transfer"},
  };
  Table table{"p2p_summary", "Sends and receives by pair of ranks and size", columns};
  for (auto& [key, pair] : pairs) {
    const auto& [group, from, to, mib] = key;
    const GroupStats time = stats_of_ns(pair.transfer_ns), rate = stats_of(pair.gibps);
    table.add_row(matching.groups[group].id, rank_or_none(from), rank_or_none(to), mib, time.count,
                  pair.unmatched, pair.mib, time.sum / 1e3, time.mean,
                  stats_of_ns(pair.sender_wait_ns).mean, stats_of_ns(pair.receiver_wait_ns).mean,
                  rate.mean, rate.min, rate.max);
  }
  table.sort_by("transfer time (ms)", Order::kDescending);
  return table;
}

}  // namespace tracelens
