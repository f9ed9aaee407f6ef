// attention.hpp: what fused attention reaches, by the length of its keys.
#pragma once

namespace tracelens {

// Share of the matrix peak that is expected of a forward kernel; short sequences reach little.
[[nodiscard]] constexpr double attention_efficiency(double keys) {
  struct Point {
    double keys, reached;
  };
  constexpr Point kBand[] = {{512, 0.05}, {1024, 0.20}, {2048, 0.40}, {4096, 0.50}};
  if (keys <= kBand[0].keys) return kBand[0].reached;
  for (int i = 1; i < 4; ++i)
    if (keys <= kBand[i].keys) {
      const double part = (keys - kBand[i - 1].keys) / (kBand[i].keys - kBand[i - 1].keys);
      return kBand[i - 1].reached + part * (kBand[i].reached - kBand[i - 1].reached);
    }
  return kBand[3].reached;
}
inline constexpr double kBackwardAttention = 0.7;  // of the forward kernel's efficiency

}  // namespace tracelens
