// names.hpp: names of events in a form in which those of two traces can be compared.
//   normalized_name("/src/train.py(128): forward")      // "/src/train.py: forward"
//   DiffNames names;
//   names.id_of("foo 0xDEADBEEF") == names.id_of("foo 0xCAFE")
// Addresses and line numbers differ from run to run, and the module launches of CUDA and HIP are
// one call by two names. HLO ops are known by module, name and scope: the line of the source they
// came from moves with every edit, and compilers number them anew.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <tracelens/trace.hpp>
#include <unordered_map>

namespace tracelens {

// "a/b.py: f" as "b.py" too; HLO ops without their numbers.
enum class Strip : std::uint8_t { kNo, kFunction };

[[nodiscard]] std::string normalized_name(std::string_view name, Strip strip = Strip::kNo);

// "dot.3 (jit(f)/mul, model.py:31)" as "dot.3 (jit(f)/mul)"; stripped: "dot (jit(f)/mul)", and
// without the "jit(main)" that some versions of JAX put into every scope. A kernel's name stays as
// it is but for the ".kd" of its descriptor.
[[nodiscard]] std::string hlo_name(std::string_view label, Strip strip = Strip::kNo);

// The one of the two above that fits the trace the name is from.
[[nodiscard]] std::string comparable_name(const Trace& trace, std::string_view name, Strip strip);

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
