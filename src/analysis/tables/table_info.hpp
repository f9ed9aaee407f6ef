// table_info.hpp: a row of the registry: all there is to know about a table besides its numbers.
//   {.name = "gpu_streams", .description = "How busy each stream of each GPU was",
//    .screen = {.place = 3, .rows = 8}, .make = [](TableContext& c) { return tables(gpu_streams(c.trace)); }}
// To add a table: the file of its analysis, and such a row in the list of each kind of trace that
// has it (pytorch.cpp, jax.cpp, rocm.cpp), at the place where it should stand in the report. The
// columns are not listed here: each is one row beside its cell function (kit/column_set.hpp).
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <tracelens/edition.hpp>
#include <tracelens/table.hpp>
#include <vector>

#include "analysis/tables/compare_rule.hpp"

namespace tracelens {

class TableContext;

// What a trace must have for a table to have anything to say; several are joined by |.
enum class Needs : std::uint16_t {
  kNothing = 0,
  kOps = 1,      // the framework's ops on the host
  kFrames = 2,   // Python stacks; they then take part in the call tree
  kModules = 4,  // nn.Modules
  kSteps = 8,    // marked steps, or iterations that can be found
  kSeveralGpus = 16,
  kSeveralProcesses = 32,
  kCalls = 64,         // HIP calls
  kCopies = 128,       // copies between memories
  kCounters = 256,     // hardware counters
  kCollectives = 512,  // communication kernels
  kOverlap = 1024,     // kernels that ran at the same time
  kServing = 2048,     // annotations of a serving engine around its steps
  kMemory = 4096,      // what the allocator did
};
constexpr Needs operator|(Needs a, Needs b) {
  return static_cast<Needs>(static_cast<std::uint16_t>(a) | static_cast<std::uint16_t>(b));
}
constexpr bool includes(Needs all, Needs one) {
  return (static_cast<std::uint16_t>(all) & static_cast<std::uint16_t>(one)) != 0;
}
// "Python stacks, nn.Modules"; empty for kNothing.
[[nodiscard]] std::string text_of(Needs needs);

// When a table is made without being asked for by name.
enum class Default : std::uint8_t {
  kOn,
  kOff,       // with the flag of its group: --by-module
  kExtended,  // in that edition; the Python TraceLens has no such table
};

struct TableInfo {
  std::string_view name;
  std::string_view description;
  // Tables that go together: what ReportOptions::also and ::without take besides names, and the
  // flag where the default is kOff. Empty: the name is enough.
  std::string_view group = {};
  Default on = Default::kOn;
  Needs needs = Needs::kNothing;
  std::string_view view = {};  // of a ROCm trace: activity, api or memcpy
  // What the terminal shows: at which place, and how many rows; 0: nothing.
  struct Screen {
    int place = 0;
    std::size_t rows = 0;
    // Those that matter to a reader, the most important first, "name | time": where there is no room
    // the last go. The others stand in files, folded in a workbook. Empty: all columns are alike.
    std::string_view columns = {};
  } screen = {};
  const CompareRule* compare = nullptr;
  bool on_page = false;  // a page draws it: made for pages also where it is off
  // Of a trace with ops: made by whichever thread is free, because it changes nothing the others use.
  bool in_background = false;
  // Costs most time and memory of all: with few threads one after the other with the tables of ops, with
  // many beside them and begun before them.
  bool is_heavy = false;
  bool has_own_ops = false;  // asks TableContext::unified_ops() or sheet_ops(), not ops()
  // Rows with the same producer follow each other and are made together, once. Tables that were not
  // asked for are dropped; a producer that saves work by it asks TableContext::wants(). None:
  // made by the recipe itself, at its end, or of several traces together.
  std::vector<Table> (*make)(TableContext& context) = nullptr;
  // Of a row that stands for many tables, such as the sheet of each family of ops: their names.
  const std::vector<std::string>& (*members)() = nullptr;

  // Whether the row makes the table of this name.
  [[nodiscard]] bool makes(std::string_view table) const;
  [[nodiscard]] std::vector<std::string_view> screen_columns() const;
  // Whether `is_wanted` says so of one of them.
  template <class IsWanted>
  [[nodiscard]] bool any_screen_column(IsWanted&& is_wanted) const {
    constexpr std::string_view kBetween = " | ";
    for (std::string_view rest = screen.columns; !rest.empty();) {
      const std::size_t end = std::min(rest.find(kBetween), rest.size());
      if (is_wanted(rest.substr(0, end))) return true;
      rest.remove_prefix(std::min(end + kBetween.size(), rest.size()));
    }
    return false;
  }
};

}  // namespace tracelens
