// columns.hpp: what several parts of the module ask of a trace's columns.
#pragma once

#include <cstdint>
#include <tracelens/trace.hpp>
#include <vector>

namespace tracelens::python {

// By StringId: 1 where some event has this name.
[[nodiscard]] std::vector<std::uint8_t> used_names(const Trace& trace);

}  // namespace tracelens::python
