#include "readers/formats/own_formats.hpp"

#include <array>
#include <deque>
#include <utility>

#include "readers/kit/source.hpp"

namespace tracelens {
namespace {

std::deque<Format>& own_formats() {  // a format stays where it is while others come
  static std::deque<Format> formats;
  return formats;
}

class StreamSource final : public ByteSource {
 public:
  explicit StreamSource(io::Stream& in) : in_{in} {}
  [[nodiscard]] std::string name() const override { return in_.name(); }
  std::size_t read(std::span<char> into) override {
    const std::size_t got = into.empty() ? 0 : in_.read(into);
    bytes_ += got;
    return got;
  }
  [[nodiscard]] std::uint64_t bytes() const { return bytes_; }

 private:
  io::Stream& in_;
  std::uint64_t bytes_ = 0;
};

}  // namespace

bool read_line(ByteSource& in, std::string& line) {
  line.clear();
  char byte = 0;
  bool any = false;
  while (in.read({&byte, 1}) == 1) {
    any = true;
    if (byte == '\n') break;
    line.push_back(byte);
  }
  if (line.ends_with('\r')) line.pop_back();
  return any;
}

std::string read_all(ByteSource& in) {
  std::string text;
  std::array<char, 1 << 16> block;
  while (const std::size_t got = in.read(block)) text.append(block.data(), got);
  return text;
}

void register_format(Format format) { own_formats().push_front(std::move(format)); }

const Format* find_own_format(std::string_view head) {
  for (const Format& format : own_formats())
    if (format.looks_like(head)) return &format;
  return nullptr;
}

Trace read_own(const Format& format, io::Stream& in, const ReadOptions& options) {
  TraceBuilder builder;
  StreamSource source{in};
  format.read(source, builder, options);
  builder.source().text_bytes = source.bytes();
  describe_source(builder, in, builder.source().recorder, format.name);
  return std::move(builder).finish();
}

std::string own_format_names() {
  std::string names;
  for (const Format& format : own_formats()) names.append(format.name).append(", ");
  return names;
}

}  // namespace tracelens
