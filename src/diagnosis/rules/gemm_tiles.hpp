// gemm_tiles.hpp: how a matrix product is cut into tiles, by the name of its kernel.
//   const auto tile = tile_of("nvjet_sm90_tst_192x192_64x4_2x1_v_bz_TNT");     // 192 x 192
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

#include "diagnosis/kit/context.hpp"

namespace tracelens {

struct GemmTile {
  double first = 128, second = 128;
};
[[nodiscard]] std::optional<GemmTile> tile_of(std::string_view kernel);

// Tiles of a product whose result is m by n: of both ways to lay the tile the one with fewer.
[[nodiscard]] double tiles_of(const Work& product, const GemmTile& tile);
// Of a use: by its first kernel that tells, else tiles of 128 x 128.
[[nodiscard]] GemmTile tile_of(const DiagnosisContext& c, const OpUse& use);
// Compute units of the GPU, as the trace tells; 0: it does not.
[[nodiscard]] double compute_unit_count(const Trace& trace);

}  // namespace tracelens
