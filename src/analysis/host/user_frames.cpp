#include "analysis/host/user_frames.hpp"

#include <string_view>
#include <tracelens/tree.hpp>

namespace tracelens {

bool is_user_frame(std::string_view frame) {
  if (frame.starts_with('<') || is_module_name(frame)) return false;
  constexpr std::string_view kFramework = "torch/";
  return !frame.starts_with(kFramework) && frame.find("/torch/") == std::string_view::npos;
}

}  // namespace tracelens
