#include "analysis/gpu/thread_walk.hpp"

#include "io/parallel.hpp"

namespace tracelens {
namespace {

struct OpenRow {
  std::int64_t end_ns;
  std::uint32_t row;
};

// What some rows open and close.
struct Openings {
  std::int64_t closed_ns =
      std::numeric_limits<std::int64_t>::min();  // what ends by then, of those before
  std::vector<OpenRow> open = {};                // of their own
};

Openings openings_of(const Trace& trace, std::span<const std::uint32_t> rows) {
  Openings of;
  for (const std::uint32_t row : rows) {
    const Interval time = interval_of(trace, {row});
    while (!of.open.empty() && of.open.back().end_ns <= time.start) of.open.pop_back();
    if (of.open.empty()) of.closed_ns = time.start;
    of.open.push_back({time.end, row});
  }
  return of;
}

// A part of a walk begins here.
struct Cut {
  std::size_t row, stretch;
};

// Between stretches, `part_rows` or more rows after each other.
std::vector<Cut> places_to_cut(const Trace& trace, const ThreadWalk& whole, std::size_t part_rows) {
  std::vector<Cut> cuts{{0, 0}};
  std::size_t stretch = 0;
  for (std::size_t row = part_rows; row < whole.rows.size(); ++row) {
    // By when all that was told of has passed.
    const std::int64_t now = interval_of(trace, {whole.rows[row - 1]}).start;
    while (stretch < whole.stretches.size() && whole.stretches[stretch].time.end <= now) ++stretch;
    if (stretch < whole.stretches.size() && whole.stretches[stretch].time.start < now) continue;
    cuts.push_back({row, stretch});
    row += part_rows - 1;
  }
  return cuts;
}

}  // namespace

std::vector<ThreadWalk> cut_walk(const Trace& trace, const ThreadWalk& whole, std::size_t part_rows,
                                 int threads) {
  const std::vector<Cut> cuts = places_to_cut(trace, whole, std::max<std::size_t>(part_rows, 1));
  std::vector<Openings> openings(cuts.size() - 1);  // between a cut and the next
  io::for_each_part(threads, openings.size(), [&](std::size_t i) {
    openings[i] =
        openings_of(trace, whole.rows.subspan(cuts[i].row, cuts[i + 1].row - cuts[i].row));
  });

  std::vector<ThreadWalk> parts;
  std::vector<OpenRow> open;
  for (const std::uint32_t row : whole.open) open.push_back({interval_of(trace, {row}).end, row});
  Cut first{0, 0};
  std::vector<std::uint32_t> open_at_first = whole.open;
  const auto end_part = [&](Cut end) {
    parts.push_back({whole.rows.subspan(first.row, end.row - first.row),
                     whole.stretches.subspan(first.stretch, end.stretch - first.stretch),
                     std::move(open_at_first)});
    first = end;
    open_at_first.clear();
    for (const OpenRow& event : open) open_at_first.push_back(event.row);
  };
  for (std::size_t i = 0; i < openings.size(); ++i) {
    while (!open.empty() && open.back().end_ns <= openings[i].closed_ns) open.pop_back();
    open.insert(open.end(), openings[i].open.begin(), openings[i].open.end());
    // To open again what is open costs less than the part.
    if (cuts[i + 1].row - first.row >= open.size()) end_part(cuts[i + 1]);
  }
  end_part({whole.rows.size(), whole.stretches.size()});
  return parts;
}

}  // namespace tracelens
