// clean_text.hpp: texts of a trace on their way to a model. Whoever wrote the profiled program may have
// written names for it to read.
//   clean_text("a\nb\u202Ec")                       // "a bc"
//   quoted_cell("mm | `x`")                          // "`mm ¦ 'x'`"
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

namespace tracelens::mcp {

inline constexpr std::size_t kLongestName = 4096;  // bytes, also where names are asked for in full
inline constexpr std::size_t kQuotedInSentence = 80;  // characters
inline constexpr std::size_t kLongestSentence = 400;  // characters, of one that may hold names

// On one line, without what cannot be seen: control characters, marks that turn the reading direction,
// characters of no width, tags, what is no UTF-8. Cut behind kLongestName bytes.
[[nodiscard]] std::string clean_text(std::string_view text);

// The middle cut out where it has more characters than this.
[[nodiscard]] std::string shortened(std::string_view text, std::size_t characters);

// A clean text between back-quotes, which, like the bars of a table, cannot end it.
[[nodiscard]] std::string quoted_cell(std::string_view clean);
// The same for a sentence of ours: cleaned and short.
[[nodiscard]] std::string in_quotes(std::string_view text);

// Sentences of ours that may hold names of the trace: cleaned, not too long, and no Markdown of theirs
// works.
[[nodiscard]] std::string clean_sentence(std::string_view text);
// A note that may hold names which nobody can tell from its words: all of it between back-quotes.
[[nodiscard]] std::string quoted_note(std::string_view text);
// The same where it is known which names of the trace it may hold: these come between back-quotes.
[[nodiscard]] std::string with_quoted_names(std::string_view sentence,
                                            std::vector<std::string> names);

}  // namespace tracelens::mcp
