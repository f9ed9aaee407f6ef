// The table of `tracelens roofline`.
#include "analysis/tables/lists.hpp"

namespace tracelens {
namespace {

constexpr TableInfo kTables[] = {
    {.name = "roofline",
     .description = "Ops with a model against the limits of the GPU",
     .needs = Needs::kOps,
     .screen = {.place = 1,
                .rows = 12,
                .columns =
                    "op | Input Dims | time share | % of roof | bound | achieved | bandwidth | "
                    "calls | FLOPs/byte | category | attainable"}},
};

}  // namespace

std::span<const TableInfo> roofline_tables() { return kTables; }

}  // namespace tracelens
