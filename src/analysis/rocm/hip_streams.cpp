#include "analysis/rocm/hip_streams.hpp"

#include <algorithm>
#include <cstdint>
#include <map>
#include <tracelens/intervals.hpp>
#include <utility>
#include <vector>

#include "analysis/gpu/busy_time.hpp"
#include "analysis/kit/cells.hpp"
#include "trace/sparse_cursor.hpp"
#include "tree/time_math.hpp"

namespace tracelens {

std::optional<Table> gpu_streams(const Trace& trace) {
  struct Stream {
    std::int64_t kernels = 0, copies = 0;
    std::vector<EventId> work;
  };
  std::map<std::pair<std::int64_t, std::int64_t>, Stream> streams;  // by GPU and stream
  const auto& ids = trace.streams();
  SparseCursor devices{trace.devices()};
  for (std::size_t i = 0; i < ids.rows().size(); ++i) {
    const EventId event{ids.rows()[i]};
    const Category category = trace.category(event);
    if (!is_gpu(category) || trace.ts_ns()[event.row] == kAbsent) continue;
    Stream& stream = streams[{devices.at(event).value_or(-1), ids.values()[i]}];
    ++(category == Category::kKernel ? stream.kernels : stream.copies);
    stream.work.push_back(event);
  }
  if (streams.empty()) return std::nullopt;
  const ColumnSpec columns[] = {
      {"GPU", Kind::kInteger, "id", "number of the GPU; empty when the trace does not say"},
      {"stream", Kind::kInteger, "id", "HIP stream"},
      {"kernels", Kind::kInteger, "", "dispatches"},
      {"copies", Kind::kInteger, "", "memory copies and fills"},
      {"busy", Kind::kReal, "ms", "time in which something ran"},
      {"span", Kind::kReal, "ms", "from the first start to the last end"},
      {"busy share", Kind::kReal, "%", "of the span"},
      {"idle gaps", Kind::kInteger, "", "how often nothing ran in between"},
      {"longest gap", Kind::kReal, "µs", "longest of them"},
  };
  Table table{"gpu_streams", "How busy each stream of each GPU was", columns};
  for (auto& [key, stream] : streams) {
    Interval span;
    std::size_t stretches = 0;
    std::int64_t busy = 0, longest_gap = 0;
    for_each_busy_stretch(trace, stream.work, [&](const Interval& stretch) {
      if (stretches++ == 0)
        span = stretch;
      else
        longest_gap = std::max(longest_gap, minus_ns(stretch.start, span.end));
      span.end = stretch.end;
      busy = plus_ns(busy, length(stretch));
    });
    const auto busy_ns = static_cast<double>(busy);
    const auto span_ns = static_cast<double>(length(span));
    table.add_row(key.first < 0 ? std::nullopt : std::optional{key.first}, key.second,
                  stream.kernels, stream.copies, busy_ns / 1e6, span_ns / 1e6,
                  percent_of(busy_ns, span_ns), stretches - 1, us(longest_gap));
  }
  return table;
}

}  // namespace tracelens
