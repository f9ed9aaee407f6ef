// findings.hpp: which of the changes between two traces deserve a sentence.
//   const DiffFindings findings{changes, exchanges};
//   if (const OpChange* worst = findings.largest(Direction::kSlower)) ...
// A change that the steps prove counts whatever its size. Where there are too few of them, it must
// stand out by its size (is_notable), so that noise is not sold as a finding.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <span>
#include <string>

#include "analysis/diff/ops.hpp"

namespace tracelens {

enum class Direction : std::uint8_t { kSlower, kFaster };

class DiffFindings {
 public:
  // Both sorted by size, as op_changes() and substitutions() return them; they must outlive this.
  DiffFindings(std::span<const OpChange> changes, std::span<const Substitution> exchanges);

  [[nodiscard]] std::int64_t gpu_ns(std::size_t side) const { return gpu_ns_[side]; }
  // Not a nanosecond of difference, and nothing exchanged: one recording, or a copy of it.
  [[nodiscard]] bool is_identical() const;

  // nullptr: none that counts. An op that only one trace has is no finding of its own where it may
  // have been removed or added by an exchange: the exchange is.
  [[nodiscard]] const OpChange* largest(Direction direction) const;
  [[nodiscard]] const Substitution* largest_exchange(Direction direction) const;

  struct Cost {
    std::string op = {};
    std::int64_t ns = 0;
  };
  // All shapes of an op together. Nothing without GPU time.
  [[nodiscard]] std::optional<Cost> costliest_op(std::size_t side) const;

 private:
  [[nodiscard]] bool counts(const OpChange& change) const;
  [[nodiscard]] bool stands_out(const std::array<std::int64_t, 2>& ns) const;

  std::span<const OpChange> changes_;
  std::span<const Substitution> exchanges_;
  std::array<std::int64_t, 2> gpu_ns_ = {};
};

}  // namespace tracelens
