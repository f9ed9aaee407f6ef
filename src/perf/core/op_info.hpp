// op_info.hpp: what is known of an op by its name alone; a row of a family's table starts with it.
#pragma once

#include <cstdint>
#include <string_view>
#include <tracelens/edition.hpp>

namespace tracelens::perf {

// Where the backward work of an op is listed.
enum class BackwardWork : std::uint8_t {
  kLinked,    // on the backward sheet, by the backward ops linked to it
  kRecorded,  // by its backward op, which is recorded, and so listed, itself
  kIsOp,      // the op itself is backward work: it belongs on the backward sheet
  kNone,      // serves inference only; nothing is linked to it
};

struct OpInfo {
  std::string_view name = {};      // as traced: "aten::mm"
  std::string_view model = {};     // "aten_mm"; empty: only the category is known
  std::string_view category = {};  // "SDPA_fwd"
  // Category of a backward op that is the only one linked to this op; may be empty.
  std::string_view backward_category = {};
  std::string_view sheet = {};            // family of sheets it is listed on: "SDPA"; may be empty
  Edition edition = Edition::kReference;  // kExtended: not known to the Python TraceLens
  bool per_call = false;                  // its work depends on more than the signature: see OpCall
  BackwardWork backward_work = BackwardWork::kLinked;
};

}  // namespace tracelens::perf
