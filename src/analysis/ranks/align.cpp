// A dynamic programme over the usual table of two sequences, in a band around its diagonal: gaps
// are few, so that far from the diagonal there is nothing to find.
#include "analysis/ranks/align.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <unordered_map>

#include "tree/time_math.hpp"

namespace tracelens {
namespace {

constexpr std::int64_t kExtraBand = 64;     // gaps allowed beyond the difference in length
constexpr std::int64_t kWidestBand = 4096;  // columns
constexpr double kGap = 1;                  // cost of leaving an entry alone
constexpr double kFarthest = 1.5;           // cost of pairing entries far apart: less than two gaps
constexpr double kImpossible = std::numeric_limits<double>::infinity();

enum class Step : std::uint8_t { kNone, kPair, kSkipPivot, kSkipOther };

// The usual distance between neighbours: the measure of "far apart".
double spacing_of(std::span<const AlignEntry> entries) {
  if (entries.size() < 2) return 1;
  const double span =
      static_cast<double>(entries.back().end_ns) - static_cast<double>(entries.front().end_ns);
  return std::max(1.0, span / static_cast<double>(entries.size() - 1));
}

// By how much the clock of `other` is ahead of that of `pivot`: the difference that most pairs near
// the diagonal have, as right pairs agree and wrong ones do not. 0 when clocks agree well enough.
std::int64_t clock_lead(std::span<const AlignEntry> pivot, std::span<const AlignEntry> other,
                        std::int64_t lowest, std::int64_t width) {
  constexpr std::int64_t kMostPairs = 1 << 20;
  const auto bin_ns = static_cast<std::int64_t>(std::min(spacing_of(pivot) / 2, 1e18)) + 1;
  const std::int64_t stride = std::ssize(other) * width / kMostPairs + 1;
  struct Bin {
    std::size_t pairs = 0;
    std::int64_t first_ns = 0;
  };
  std::unordered_map<std::int64_t, Bin> bins;
  for (std::int64_t j = 0; j < std::ssize(other); j += stride)
    for (std::int64_t i = std::max<std::int64_t>(j + lowest, 0);
         i < std::min(j + lowest + width, std::ssize(pivot)); ++i) {
      const AlignEntry &a = pivot[static_cast<std::size_t>(i)],
                       &b = other[static_cast<std::size_t>(j)];
      if (a.kind != b.kind) continue;
      const std::int64_t ahead = minus_ns(b.end_ns, a.end_ns);
      Bin& bin =
          bins[ahead / bin_ns];  // the one around 0 is twice as wide: no difference is likely
      if (bin.pairs++ == 0) bin.first_ns = ahead;
    }
  const auto zero = bins.find(0);
  const std::size_t as_recorded = zero == bins.end() ? 0 : zero->second.pairs;
  Bin best;
  for (const auto& [number, bin] : bins)
    if (bin.pairs > best.pairs || (bin.pairs == best.pairs && bin.first_ns < best.first_ns))
      best = bin;
  return as_recorded >= best.pairs / 2 ? 0 : best.first_ns;
}

class Band {
 public:
  Band(std::span<const AlignEntry> pivot, std::span<const AlignEntry> other)
      : pivot_{pivot}, other_{other}, spacing_{spacing_of(pivot)} {
    const std::int64_t difference = std::ssize(pivot) - std::ssize(other);
    lowest_ = std::min<std::int64_t>(difference, 0) - kExtraBand;
    width_ = std::abs(difference) + 2 * kExtraBand + 1;
    if (!is_too_wide()) lead_ns_ = clock_lead(pivot, other, lowest_, width_);
  }
  [[nodiscard]] bool is_too_wide() const { return width_ > kWidestBand; }

  std::vector<std::uint32_t> solve() {
    fill();
    return walk_back();
  }

 private:
  // Column of the band for i entries of pivot and j of other; the diagonal i - j is constant.
  [[nodiscard]] std::int64_t column(std::int64_t i, std::int64_t j) const {
    return i - j - lowest_;
  }

  void fill() {
    const std::int64_t n = std::ssize(pivot_), m = std::ssize(other_);
    steps_.assign(static_cast<std::size_t>((m + 1) * width_), Step::kNone);
    std::vector<double> before(static_cast<std::size_t>(width_), kImpossible), now = before;
    for (std::int64_t j = 0; j <= m; ++j) {
      std::ranges::fill(now, kImpossible);
      for (std::int64_t c = 0; c < width_; ++c) {
        const std::int64_t i = j + c + lowest_;
        if (i < 0 || i > n) continue;
        double best = i == 0 && j == 0 ? 0 : kImpossible;
        Step step = Step::kNone;
        const auto offer = [&](double cost, Step by) {
          if (cost < best) {
            best = cost;
            step = by;
          }
        };
        if (i > 0 && j > 0) offer(before[at(c)] + pair_cost(i - 1, j - 1), Step::kPair);
        if (i > 0 && c > 0) offer(now[at(c - 1)] + kGap, Step::kSkipPivot);
        if (j > 0 && c + 1 < width_) offer(before[at(c + 1)] + kGap, Step::kSkipOther);
        now[at(c)] = best;
        steps_[at(j * width_ + c)] = step;
      }
      std::swap(before, now);
    }
  }

  std::vector<std::uint32_t> walk_back() const {
    std::vector<std::uint32_t> partners(other_.size(), kUnpaired);
    std::int64_t i = std::ssize(pivot_), j = std::ssize(other_);
    while (i > 0 || j > 0) {
      switch (steps_[at(j * width_ + column(i, j))]) {
        case Step::kPair:
          partners[at(--j)] = static_cast<std::uint32_t>(--i);
          break;
        case Step::kSkipPivot:
          --i;
          break;
        case Step::kSkipOther:
          --j;
          break;
        case Step::kNone:
          return partners;
      }
    }
    return partners;
  }

  [[nodiscard]] double pair_cost(std::int64_t i, std::int64_t j) const {
    const AlignEntry &a = pivot_[at(i)], &b = other_[at(j)];
    if (a.kind != b.kind) return kImpossible;
    const std::int64_t end_ns = minus_ns(b.end_ns, lead_ns_);
    const double apart = std::abs(static_cast<double>(a.end_ns) - static_cast<double>(end_ns));
    return std::min(kFarthest, apart / spacing_ / 4);
  }

  static std::size_t at(std::int64_t index) { return static_cast<std::size_t>(index); }

  std::span<const AlignEntry> pivot_, other_;
  double spacing_;
  std::int64_t lowest_ = 0, width_ = 0, lead_ns_ = 0;
  std::vector<Step> steps_;  // how each cell of the band was reached
};

std::vector<std::uint32_t> pair_in_order(std::span<const AlignEntry> pivot,
                                         std::span<const AlignEntry> other) {
  std::vector<std::uint32_t> partners(other.size(), kUnpaired);
  for (std::size_t i = 0; i < std::min(pivot.size(), other.size()); ++i)
    if (pivot[i].kind == other[i].kind) partners[i] = static_cast<std::uint32_t>(i);
  return partners;
}

}  // namespace

std::vector<std::uint32_t> align(std::span<const AlignEntry> pivot,
                                 std::span<const AlignEntry> other) {
  Band band{pivot, other};
  return band.is_too_wide() ? pair_in_order(pivot, other) : band.solve();
}

}  // namespace tracelens
