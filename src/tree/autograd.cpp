#include "tree/autograd.hpp"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <string_view>

#include "tree/id_slots.hpp"

namespace tracelens {
namespace {

constexpr std::string_view kBackwardPrefix = "autograd::engine::evaluate_function:";

}  // namespace

std::vector<AutogradLink> find_autograd_links(const Trace& trace) {
  // Events added to the trace belong to another run.
  const auto& sequences = trace.sequence_numbers();
  const auto recorded = static_cast<std::size_t>(
      std::ranges::lower_bound(sequences.rows(), trace.recorded()) - sequences.rows().begin());
  const auto rows = sequences.rows().first(recorded);
  const auto numbers = sequences.values().first(recorded);
  const IdSlots slots{numbers};
  std::vector<AutogradLink> links(slots.size());

  enum class IsBackward : std::uint8_t { kUnknown, kNo, kYes };
  std::vector<IsBackward> known(trace.string_count(), IsBackward::kUnknown);  // by name
  const auto is_backward = [&](std::uint32_t row) {
    IsBackward& is = known[trace.names()[row].row];
    if (is == IsBackward::kUnknown)
      is = trace.name({row}).starts_with(kBackwardPrefix) ? IsBackward::kYes : IsBackward::kNo;
    return is == IsBackward::kYes;
  };
  for (std::size_t i = 0; i < rows.size(); ++i) {
    if (numbers[i] == kAbsent || !is_backward(rows[i])) continue;
    EventId& backward = links[slots.find(numbers[i])].backward;
    if (!backward.valid()) backward = {rows[i]};
  }
  const auto start = [&](EventId event) {  // an event without a time counts as 0
    const std::int64_t ts = trace.ts_ns()[event.row];
    return ts == kAbsent ? 0 : ts;
  };
  for (std::size_t i = 0; i < rows.size(); ++i) {
    if (numbers[i] == kAbsent) continue;
    AutogradLink& link = links[slots.find(numbers[i])];
    const EventId event{rows[i]};
    if (!link.backward.valid() || trace.tracks()[event.row] == trace.tracks()[link.backward.row] ||
        start(event) < 0)
      continue;
    if (!link.forward.valid() || start(event) > start(link.forward)) link.forward = event;
  }
  std::erase_if(links, [](const AutogradLink& link) { return !link.forward.valid(); });
  return links;
}

}  // namespace tracelens
