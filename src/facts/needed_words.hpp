// needed_words.hpp: which words a text must have for a regular expression to match.
//   needed_words("(?i)nccl|all_?reduce|(one|two)_?shot")      // "nccl", "reduce", "shot"
// Looking for words is cheap; compiling an expression and running it is not, and of many expressions most
// have nothing to do with a text.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace tracelens {

// One of them, in lower case, is in every ASCII text that the expression (RE2) matches, in whatever case.
// None: nothing is known of such texts.
[[nodiscard]] std::vector<std::string> needed_words(std::string_view pattern);

}  // namespace tracelens
