#include "analysis/kit/cells.hpp"

#include <fmt/format.h>

namespace tracelens {

std::string rounded_ms(std::int64_t ns) {
  const double value = ms(ns);
  if (value >= 999.5) return fmt::format("{:.0f} ms", value);
  return value > 0 && value < 1e-4 ? fmt::format("{:.6f} ms", value)
                                   : fmt::format("{:.3g} ms", value);
}

// An op's arguments are nested as deeply as the file had it, so the walk keeps its own stack.
Value as_list(const Value& value) {
  if (!value.is_sequence()) return value;
  struct Open {
    const Value* from;
    std::vector<Value> done;
  };
  std::vector<Open> open;
  const auto begin = [&open](const Value& sequence) {
    open.push_back({&sequence, {}});
    open.back().done.reserve(sequence.items().size());  // the list keeps this room
  };
  begin(value);
  while (true) {
    Open& top = open.back();
    if (top.done.size() < top.from->items().size()) {
      const Value& next = top.from->items()[top.done.size()];
      if (next.is_sequence())
        begin(next);
      else
        top.done.push_back(next);
      continue;
    }
    Value list = Value::list(std::move(top.done));
    open.pop_back();
    if (open.empty()) return list;
    open.back().done.push_back(std::move(list));
  }
}

}  // namespace tracelens
