#include <tracelens/trace.hpp>

#include <algorithm>
#include <array>
#include <iterator>

#include "trace/json_value.hpp"
#include "trace/track_key.hpp"

namespace tracelens {
namespace {

// In the order of Category.
constexpr std::array<std::string_view, kCategoryCount> kCategoryNames = {"",
                                                                         "cpu_op",
                                                                         "python_function",
                                                                         "cuda_runtime",
                                                                         "cuda_driver",
                                                                         "kernel",
                                                                         "gpu_memcpy",
                                                                         "gpu_memset",
                                                                         "ac2g",
                                                                         "fwdbwd",
                                                                         "user_annotation",
                                                                         "gpu_user_annotation",
                                                                         "cpu_instant_event",
                                                                         "overhead",
                                                                         "Trace",
                                                                         "(other)"};

}  // namespace

std::string_view category_name(Category category) {
  return kCategoryNames[static_cast<std::size_t>(category)];
}

void Warnings::add(std::string_view what, std::uint64_t byte, std::uint64_t count) {
  for (Entry& entry : entries_)
    if (entry.what == what) {
      entry.count += count;
      entry.first_byte = std::min(entry.first_byte, byte);
      return;
    }
  entries_.push_back({std::string{what}, count, byte});
}

std::uint64_t Warnings::count(std::string_view what) const {
  const auto found = std::ranges::find(entries_, what, &Entry::what);
  return found == entries_.end() ? 0 : found->count;
}

std::string_view Trace::category_text(EventId event) const {
  // Some formats give every event a text: then its place is that of the event.
  const auto rows = other_categories_.rows();
  if (event.row < rows.size() && rows[event.row] == event.row)
    return text(other_categories_.values()[event.row]);
  const auto id = other_categories_.at(event);
  return id ? text(*id) : category_name(category(event));
}

Value Trace::details(EventId event) const {
  const auto json = details_.at(event);
  if (!json) return {};
  return parse_json_value(text(*json)).value_or(Value{});
}

std::optional<Value> Trace::label(const Track& track, std::string_view what) const {
  const auto found = labels_.find(label_key(track, what));
  if (found == labels_.end()) return std::nullopt;
  return found->second;
}

const Value* Trace::metadata(std::string_view key) const {
  const auto found = std::ranges::find(metadata_, key, &MetadataEntry::key);
  return found == metadata_.end() ? nullptr : &found->value;
}

}  // namespace tracelens
