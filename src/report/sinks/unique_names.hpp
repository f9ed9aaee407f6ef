// unique_names.hpp: names for sheets and files that do not clash when tables' names do.
//   UniqueNames names{31};
//   names.add("InferenceAttention_fwd_kl_overlap");   // cut: "InferenceAttention_fwd_kl_overl"
//   names.add("InferenceAttention_fwd_kl_overlap");   // "InferenceAttention_fwd_kl_ove_2"
// Case does not make a name different: neither Excel nor every file system thinks so.
#pragma once

#include <cstddef>
#include <set>
#include <string>
#include <string_view>

namespace tracelens {

class UniqueNames {
 public:
  explicit UniqueNames(std::size_t max_characters) : max_characters_{max_characters} {}

  // `name` must be valid UTF-8; the result is at most max_characters long and was not given before.
  std::string add(std::string_view name);

 private:
  std::size_t max_characters_;
  std::set<std::string> taken_;  // in lower case
};

// The first `units` UTF-16 units of `text` (Excel's measure), never half a code point.
[[nodiscard]] std::string_view cut_utf16(std::string_view text, std::size_t units);

}  // namespace tracelens
