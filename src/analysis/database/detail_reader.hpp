// detail_reader.hpp: members of the details of many events.
//   DetailReader details{trace};
//   details.of(kernel, "graph")                 // null when it has none
#pragma once

#include <cstdint>
#include <string_view>
#include <tracelens/trace.hpp>
#include <tracelens/value.hpp>
#include <unordered_map>

namespace tracelens {

// Events that share the text of their details are asked once.
class DetailReader {
 public:
  explicit DetailReader(const Trace& trace) : trace_{trace} {}
  [[nodiscard]] const Value& of(EventId event) {
    static const Value kNothing;
    const auto text = trace_.detail_texts().at(event);
    if (!text) return kNothing;
    const auto [entry, is_new] = known_.try_emplace(text->row);
    if (is_new) entry->second = trace_.details(event);
    return entry->second;
  }
  [[nodiscard]] const Value& of(EventId event, std::string_view key) {
    static const Value kNothing;
    const Value* const found = of(event).find(key);
    return found == nullptr ? kNothing : *found;
  }

 private:
  const Trace& trace_;
  std::unordered_map<std::uint32_t, Value> known_;
};

}  // namespace tracelens
