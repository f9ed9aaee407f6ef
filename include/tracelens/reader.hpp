// reader.hpp: traces that arrive in another way than as files of a known format.
//   register_format({.name = "my log", .looks_like = is_my_log, .read = read_my_log});
//   const Trace trace = read_trace("run.log.gz");        // unpacked, recognised and read
//   void read_my_log(ByteSource& in, TraceBuilder& out, const ReadOptions&) {
//     for (std::string line; read_line(in, line);) out.append(row_of(line, out));
//   }
// Implemented in src/readers/formats.
#pragma once

#include <cstddef>
#include <functional>
#include <span>
#include <string>
#include <string_view>
#include <tracelens/read_trace.hpp>
#include <tracelens/trace.hpp>
#include <tracelens/trace_builder.hpp>

namespace tracelens {

// Bytes that are asked for piece by piece. A format of one's own reads one; a class of one's own
// brings bytes from elsewhere, see read_trace() below.
class ByteSource {
 public:
  virtual ~ByteSource() = default;
  // What people know the input by: a path or an address.
  [[nodiscard]] virtual std::string name() const = 0;
  // Fills `into` from its start and says how much of it; 0: the end. May give less than there is
  // room for. Throws Error when it cannot read on.
  virtual std::size_t read(std::span<char> into) = 0;
};

// The next line without its end ("\n" or "\r\n"); false when there is none left.
[[nodiscard]] bool read_line(ByteSource& in, std::string& line);
// All that is left.
[[nodiscard]] std::string read_all(ByteSource& in);

struct Format {
  std::string name;  // for people: Source::format, and the list of known formats in errors
  // Whether a file is of this format, by its first bytes: 4096, or fewer when it is shorter.
  std::function<bool(std::string_view head)> looks_like;
  // Appends the events; TraceLens fills in the Source, except for the recorder. Throws Error when
  // the bytes are of no use. Files may be read by several threads at once.
  std::function<void(ByteSource& in, TraceBuilder& out, const ReadOptions& options)> read;
};

// From now on read_trace() knows this format, in the whole program; it is asked before those of
// TraceLens, the latest first. To be called before other threads read traces.
void register_format(Format format);

// A trace out of bytes that are neither in a file nor in memory. Packings and formats are detected
// as for a file, and it throws the same errors.
[[nodiscard]] Trace read_trace(ByteSource& in, const ReadOptions& options = {});

}  // namespace tracelens
