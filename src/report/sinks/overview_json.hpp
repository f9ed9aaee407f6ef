// overview_json.hpp: an overview as a JSON object, with the fields of Overview.
#pragma once

#include <string>
#include <tracelens/overview.hpp>

namespace tracelens {

[[nodiscard]] std::string overview_json(const Overview& overview);

}  // namespace tracelens
