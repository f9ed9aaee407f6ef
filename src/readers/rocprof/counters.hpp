// counters.hpp: the hardware counters one process measured, dispatch by dispatch.
//   RocprofCounters counters;
//   counters.add_name(entry);                   // of the table "counters"
//   counters.add(std::move(counts), byte);      // of "counter_collection"
//   for (auto& dispatch : counters.dispatches()) text += counters.members(dispatch);
// The values of a counter in one record, one for each unit of the GPU, are summed up, as rocprofv3
// does in its own tables. Where a dispatch has several records, the last value of a counter counts.
#pragma once

#include <cstdint>
#include <string>
#include <tracelens/value.hpp>
#include <unordered_map>
#include <utility>
#include <vector>

#include "readers/rocprof/record.hpp"

namespace tracelens {

class RocprofCounters {
 public:
  struct Dispatch {
    RocprofRecord record;
    std::vector<std::pair<std::int64_t, double>> values;  // by handle; the last of equal ones holds
    std::uint64_t byte = 0;                               // where its first record is
  };

  void add_name(const Value& counter);
  void add(RocprofCounts counts, std::uint64_t byte);

  [[nodiscard]] std::vector<Dispatch>& dispatches() { return dispatches_; }
  // Its counters as members of a JSON object, each behind a comma: `,"SQ_WAVES":128.0`. A counter
  // whose name the file does not tell is COUNTER_<handle>.
  [[nodiscard]] std::string members(Dispatch& dispatch) const;

 private:
  std::unordered_map<std::int64_t, std::string> names_;  // by handle
  std::vector<Dispatch> dispatches_;
  std::unordered_map<std::int64_t, std::size_t> by_dispatch_id_;
};

}  // namespace tracelens
