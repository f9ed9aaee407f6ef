#include "diagnosis/rules/gemm_tiles.hpp"

#include <algorithm>
#include <cmath>

#include "diagnosis/kit/collected.hpp"

namespace tracelens {
namespace {

bool is_digit(char letter) { return letter >= '0' && letter <= '9'; }

// Digits from a place on; 0: none.
double number_at(std::string_view text, std::size_t& at) {
  double value = 0;
  for (; at < text.size() && is_digit(text[at]); ++at) value = value * 10 + (text[at] - '0');
  return value;
}

std::optional<GemmTile> pair_at(std::string_view text, std::size_t at) {
  const double first = number_at(text, at);
  if (first < 8 || first > 1024 || at >= text.size() || text[at] != 'x') return std::nullopt;
  const double second = number_at(text, ++at);
  if (second < 8 || second > 1024) return std::nullopt;
  return GemmTile{first, second};
}

// The first pair of numbers after a place.
std::optional<GemmTile> pair_after(std::string_view text, std::size_t from) {
  for (std::size_t at = from; at < text.size(); ++at)
    if (is_digit(text[at]) && (at == 0 || !is_digit(text[at - 1])))
      if (const auto tile = pair_at(text, at)) return tile;
  return std::nullopt;
}

}  // namespace

std::optional<GemmTile> tile_of(std::string_view kernel) {
  for (const std::string_view mark : {"_MT", "tilesize"})
    if (const auto at = kernel.find(mark); at != kernel.npos)
      return pair_at(kernel, at + mark.size());
  if (kernel.starts_with("nvjet")) return pair_after(kernel, 0);
  const auto at = kernel.find("gemm");
  return at != kernel.npos && has_text(kernel, "cutlass") ? pair_after(kernel, at) : std::nullopt;
}

double tiles_of(const Work& product, const GemmTile& tile) {
  const double m = param_of(product, "M"), n = param_of(product, "N");
  const auto tiles = [&](double a, double b) { return std::ceil(m / a) * std::ceil(n / b); };
  return std::max(1.0, param_of(product, "B")) *
         std::min(tiles(tile.first, tile.second), tiles(tile.second, tile.first));
}

GemmTile tile_of(const DiagnosisContext& c, const OpUse& use) {
  for (const EventId kernel : use.kernels)
    if (const auto tile = tile_of(c.trace.name(kernel))) return *tile;
  return {};
}

double compute_unit_count(const Trace& trace) {
  const Value* const devices = trace.metadata("deviceProperties");
  if (devices == nullptr || !devices->is_sequence() || devices->items().empty()) return 0;
  const Value* const units = devices->items().front().find("numSms");
  return units != nullptr && units->is_number() ? units->as_real() : 0;
}

}  // namespace tracelens
