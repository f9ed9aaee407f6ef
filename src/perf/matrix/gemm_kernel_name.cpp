// gemm_kernel_name.cpp: see gemm_kernel_name.hpp.
#include "perf/matrix/gemm_kernel_name.hpp"

#include <algorithm>
#include <charconv>

namespace tracelens::perf {
namespace {

bool contains(std::string_view text, std::string_view part) {
  return text.find(part) != std::string_view::npos;
}

// "Cijk_Alik_Bjlk": three index lists of the contraction.
bool has_tensile_indices(std::string_view name) {
  constexpr std::string_view kShape = "Cxxx_Axxx_Bxxx";
  const auto fits = [&](std::string_view part) {
    return std::ranges::equal(part, kShape, [](char found, char wanted) {
      return wanted == 'x' ? found >= 'a' && found <= 'z' : found == wanted;
    });
  };
  for (std::size_t at = name.find('C'); at != std::string_view::npos; at = name.find('C', at + 1))
    if (fits(name.substr(at, kShape.size()))) return true;
  return false;
}

std::optional<bool> transposed(std::string_view name, std::string_view no, std::string_view yes) {
  if (contains(name, no)) return false;
  if (contains(name, yes)) return true;
  return std::nullopt;
}

// "128x64x32" at the start of the text.
std::optional<GemmTile> tile_at(std::string_view text) {
  std::int64_t sizes[3] = {};
  const char* at = text.data();
  const char* const end = at + text.size();
  for (std::size_t i = 0; i < 3; ++i) {
    if (i > 0 && (at == end || *at++ != 'x')) return std::nullopt;
    const auto [next, error] = std::from_chars(at, end, sizes[i]);
    if (error != std::errc{} || *at == '-') return std::nullopt;
    at = next;
  }
  return GemmTile{sizes[0], sizes[1], sizes[2]};
}

std::optional<GemmTile> find_tile(std::string_view name) {
  for (std::size_t at = name.find("MT"); at != std::string_view::npos; at = name.find("MT", at + 1))
    if (const auto tile = tile_at(name.substr(at + 2))) return tile;
  return std::nullopt;
}

Value as_value(std::optional<bool> flag) { return flag ? Value{*flag} : Value{}; }

}  // namespace

std::optional<GemmKernel> parse_gemm_kernel(std::string_view name) {
  if (has_tensile_indices(name))
    return GemmKernel{transposed(name, "_Ailk_", "_Alik_"), transposed(name, "_Bljk_", "_Bjlk_"),
                      find_tile(name)};
  if (name.starts_with("nvjet")) {
    const std::string_view last = name.substr(name.rfind('_') + 1);  // npos + 1 == 0
    if (last.size() < 2) return std::nullopt;
    return GemmKernel{last[0] == 'T', last[1] == 'T', std::nullopt};
  }
  return std::nullopt;
}

std::optional<Value> gemm_transpose(std::span<const std::string_view> kernels) {
  for (const std::string_view name : kernels)
    if (const auto kernel = parse_gemm_kernel(name))
      return Value::tuple({as_value(kernel->transpose_a), as_value(kernel->transpose_b)});
  return std::nullopt;
}

}  // namespace tracelens::perf
