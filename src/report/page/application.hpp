// application.hpp: the files of web/, joined and embedded at build time.
#pragma once

#include <string_view>

namespace tracelens {

struct PageApplication {
  std::string_view script, script_sha256;  // the hash in hexadecimal digits
  std::string_view style, style_sha256;
};
[[nodiscard]] PageApplication page_application();

}  // namespace tracelens
