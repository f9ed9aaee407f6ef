// diff_names.hpp: names of events in a form in which those of two traces can be compared.
//   normalized_name("/src/train.py(128): forward")      // "/src/train.py: forward"
//   DiffNames names;
//   names.id_of("foo 0xDEADBEEF") == names.id_of("foo 0xCAFE")
// Addresses and line numbers differ from run to run, and the module launches of CUDA and HIP are
// one call by two names.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <unordered_map>

namespace tracelens {

enum class Strip : std::uint8_t { kNo, kFunction };  // "a/b.py: f" as "b.py" too

[[nodiscard]] std::string normalized_name(std::string_view name, Strip strip = Strip::kNo);

// Every "(128)" taken out: for titles.
[[nodiscard]] std::string without_line_numbers(std::string_view name);

// Texts as numbers, shared by the two traces that are compared.
class DiffNames {
 public:
  static constexpr std::uint32_t kNone = 0;  // of an event without a name
  std::uint32_t id_of(const std::string& text) {
    return ids_.try_emplace(text, static_cast<std::uint32_t>(ids_.size() + 1)).first->second;
  }

 private:
  std::unordered_map<std::string, std::uint32_t> ids_;
};

}  // namespace tracelens
