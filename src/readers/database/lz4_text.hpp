// lz4_text.hpp: texts that newer profilers store packed: "LZ4F", their length, and an LZ4 frame.
//   unpacked_text(blob)          // the text; as it is when it is not packed; nothing when it is broken
#pragma once

#include <optional>
#include <string>
#include <string_view>

namespace tracelens {

[[nodiscard]] std::optional<std::string> unpacked_text(std::string_view stored);

}  // namespace tracelens
