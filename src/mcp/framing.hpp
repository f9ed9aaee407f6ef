// framing.hpp: bytes in, messages out: one JSON text per line.
//   LineBuffer lines;
//   lines.add(bytes, [&](std::string_view line) { dispatcher.receive(line); },
//             [&] { dispatcher.receive_too_long(); });
// How the bytes are cut into pieces makes no difference.
#pragma once

#include <cstddef>
#include <functional>
#include <string>
#include <string_view>

namespace tracelens::mcp {

class LineBuffer {
 public:
  static constexpr std::size_t kLongestLine = std::size_t{4} << 20;

  // Lines end with "\n" or "\r\n" and come without it; empty ones are left out. Of a line that is too
  // long nothing is kept but the news.
  void add(std::string_view bytes, const std::function<void(std::string_view)>& on_line,
           const std::function<void()>& on_too_long);

 private:
  std::string line_;
  bool is_too_long_ = false;  // the line that is being read
};

}  // namespace tracelens::mcp
