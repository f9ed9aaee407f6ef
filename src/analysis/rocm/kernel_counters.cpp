#include "analysis/rocm/kernel_counters.hpp"

#include <algorithm>
#include <map>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "analysis/kit/cells.hpp"
#include "trace/counter_name.hpp"
#include "trace/sparse_cursor.hpp"
#include "tree/time_math.hpp"

namespace tracelens {
namespace {

struct Counted {
  std::int64_t launches = 0;
  double sum = 0, min = 0, max = 0;

  void add(double value) {
    min = launches == 0 ? value : std::min(min, value);
    max = launches == 0 ? value : std::max(max, value);
    sum += value;
    ++launches;
  }
};

struct Kernel {
  std::string_view name;
  std::int64_t sum_ns = 0;  // of all launches, counted or not
  std::map<std::string, Counted, std::less<>> counters;
};

}  // namespace

std::optional<Table> kernel_counters(const RocprofKernels& kernels) {
  const Trace& trace = kernels.trace;
  std::vector<Kernel> found;  // in order of their first launch
  std::unordered_map<std::uint32_t, std::size_t> by_name;
  std::vector<std::uint8_t> is_plain(trace.string_count());  // by text: has no counters
  bool any = false;
  SparseCursor texts{trace.detail_texts()};
  for (const EventId event : kernels.events) {
    const StringId name = trace.names()[event.row];
    const auto [entry, is_new] = by_name.try_emplace(name.row, found.size());
    if (is_new) found.push_back({trace.text(name), 0, {}});
    Kernel& kernel = found[entry->second];
    kernel.sum_ns = plus_ns(kernel.sum_ns, duration_of(trace, event));
    const auto text = texts.at(event);
    if (!text || is_plain[text->row] != 0) continue;
    const Value details = trace.details(event);
    bool is_counted = false;
    for (std::size_t i = 0; i < details.keys().size(); ++i) {
      const Value& value = details.items()[i];
      if (value.kind() != Value::Kind::kReal || !is_counter_name(details.keys()[i])) continue;
      kernel.counters[details.keys()[i]].add(value.as_real());
      is_counted = true;
    }
    is_plain[text->row] = is_counted ? 0 : 1;
    any = any || is_counted;
  }
  if (!any) return std::nullopt;
  std::ranges::stable_sort(found, std::ranges::greater{}, &Kernel::sum_ns);
  const ColumnSpec columns[] = {
      {"name", Kind::kText, "", "kernel"},
      {"counter", Kind::kText, "", "hardware counter, as the profiler names it"},
      {"Count", Kind::kInteger, "", "launches in which it was measured"},
      {"Sum", Kind::kReal, "", "over these launches"},
      {"Mean", Kind::kReal, "", "of a launch"},
      {"Min", Kind::kReal, "", "least of a launch"},
      {"Max", Kind::kReal, "", "most of a launch"},
      {"Total Kernel Time (ms)", Kind::kReal, "ms", "of all launches of the kernel"},
  };
  Table table{"kernel_counters", "What the hardware counted, by kernel", columns};
  for (const Kernel& kernel : found)
    for (const auto& [counter, counted] : kernel.counters)
      table.add_row(kernel.name, counter, counted.launches, counted.sum,
                    counted.sum / static_cast<double>(counted.launches), counted.min, counted.max,
                    ms(kernel.sum_ns));
  return table;
}

}  // namespace tracelens
