// database.hpp: traces that are SQLite files: rocpd, rpd, and what Nsight Systems exports.
//   if (is_database(in.peek(4096))) return read_database(in, options);
#pragma once

#include <span>
#include <string>
#include <string_view>
#include <tracelens/read_trace.hpp>
#include <tracelens/trace.hpp>
#include <vector>

#include "io/stream.hpp"

namespace tracelens {

// A file, packed or not, or bytes. Throws Error when it is no trace.
[[nodiscard]] Trace read_database(io::Stream& in, const ReadOptions& options);
// The databases of one job as one trace; `name` is what the user called them.
[[nodiscard]] Trace read_databases(const std::string& name, std::span<const std::string> paths,
                                   const ReadOptions& options);

[[nodiscard]] bool is_database(std::string_view head);

// The rocpd databases of a folder, or those that the list in a package (*.rpdb) names; none when there are none.
[[nodiscard]] std::vector<std::string> databases_in(const std::string& folder,
                                                    const ReadOptions& options = {});
// The list of a package of rocpd: a few lines of YAML or JSON, whose names are relative to it.
[[nodiscard]] bool is_database_list(std::string_view head);
[[nodiscard]] Trace read_database_list(io::Stream& in, const ReadOptions& options);

}  // namespace tracelens
