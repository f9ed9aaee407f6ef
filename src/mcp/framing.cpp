#include "mcp/framing.hpp"

#include <utility>

namespace tracelens::mcp {

void LineBuffer::add(std::string_view bytes, const std::function<void(std::string_view)>& on_line,
                     const std::function<void()>& on_too_long) {
  while (!bytes.empty()) {
    const std::size_t end = bytes.find('\n');
    const std::string_view part = bytes.substr(0, end);
    if (line_.size() + part.size() > kLongestLine + 1) {  // one for "\r"
      is_too_long_ = true;
      std::string{}.swap(line_);
    }
    if (!is_too_long_) line_ += part;
    if (end == bytes.npos) return;
    bytes.remove_prefix(end + 1);
    if (line_.ends_with('\r')) line_.pop_back();
    const bool is_too_long = std::exchange(is_too_long_, false) || line_.size() > kLongestLine;
    if (is_too_long)
      on_too_long();
    else if (!line_.empty())
      on_line(line_);
    line_.clear();
    if (line_.capacity() > kLongestLine / 4) std::string{}.swap(line_);
  }
}

}  // namespace tracelens::mcp
