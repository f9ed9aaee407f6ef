#include "analysis/ops/frame_names.hpp"

#include <algorithm>
#include <array>

namespace tracelens {
namespace {

constexpr std::array<std::string_view, 3> kTellingParts = {"nn.Module", "::", "/"};

bool is_decimal(char c) { return c >= '0' && c <= '9'; }

}  // namespace

std::string without_numbers(std::string_view name) {
  std::string result;
  for (std::size_t i = 0; i < name.size();) {
    if (name[i] != '_' || i + 1 == name.size() || !is_decimal(name[i + 1])) {
      result += name[i++];
      continue;
    }
    ++i;
    while (i < name.size() && is_decimal(name[i])) ++i;
  }
  return result;
}

const Value& FrameNames::of(EventId event) {
  static const Value kNotShown;
  if (names_.empty()) names_.resize(trace_.string_count());
  Name& name = names_[trace_.names()[event.row].row];
  if (name.text.is_null()) {
    const std::string_view text = trace_.name(event);
    const std::string bare = without_numbers(text);
    name.text = texts_.try_emplace(bare, bare).first->second;
    name.is_telling = std::ranges::any_of(
        kTellingParts, [&](std::string_view part) { return text.find(part) != text.npos; });
  }
  return name.is_telling || trace_.category(event) == Category::kCpuOp ? name.text : kNotShown;
}

}  // namespace tracelens
