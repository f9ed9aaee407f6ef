// own_formats.hpp: the formats that a program registered, see tracelens/reader.hpp.
//   if (const Format* own = find_own_format(in.peek(4096))) return read_own(*own, in, options);
#pragma once

#include <string>
#include <string_view>
#include <tracelens/reader.hpp>

#include "io/stream.hpp"

namespace tracelens {

[[nodiscard]] const Format* find_own_format(std::string_view head);  // null: none of them
[[nodiscard]] Trace read_own(const Format& format, io::Stream& in, const ReadOptions& options);
// Whether read_trace() takes a file that begins like this for a list of events in Chrome's JSON.
[[nodiscard]] bool is_chrome_json(std::string_view head);
[[nodiscard]] std::string own_format_names();  // "my log, "; empty without any

}  // namespace tracelens
