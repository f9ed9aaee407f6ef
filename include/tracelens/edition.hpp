// edition.hpp: whose rules a result follows, wherever the two differ.
//   make_report(trace, {.edition = Edition::kReference});
#pragma once

#include <cstdint>

namespace tracelens {

enum class Edition : std::uint8_t {
  kReference,  // exactly what the Python TraceLens knows and does, so that its spreadsheets match
  kExtended,   // all that TraceLens knows, with the corrections of docs/differences.md
};

}  // namespace tracelens
