// dtype.cpp: one row per element type.
#include "perf/core/dtype.hpp"

#include <algorithm>

namespace tracelens::perf {
namespace {

using enum Edition;

struct Dtype {
  std::string_view name;  // lower case
  double bytes;           // 0: no size of its own
  std::string_view precision;
  Edition edition = kReference;         // kExtended: unknown to the Python TraceLens
  std::string_view our_precision = {};  // where it knows the type but not its precision
};

constexpr Dtype kDtypes[] = {
    {.name = "double", .bytes = 8, .precision = "fp64"},
    {.name = "float", .bytes = 4, .precision = "fp32"},
    {.name = "c10::half", .bytes = 2, .precision = "fp16"},
    {.name = "c10::bfloat16", .bytes = 2, .precision = "bf16"},
    {.name = "c10::float8_e4m3fn", .bytes = 1, .precision = "fp8"},
    {.name = "c10::float8_e4m3fnuz", .bytes = 1, .precision = "fp8"},
    {.name = "c10::float8_e5m2", .bytes = 1, .precision = "", .our_precision = "fp8"},
    {.name = "c10::float8_e5m2fnuz", .bytes = 1, .precision = "fp8", .edition = kExtended},
    {.name = "c10::float8_e8m0fnu", .bytes = 1, .precision = ""},
    {.name = "fp8", .bytes = 1, .precision = "fp8"},
    // A packed pair: traced shapes hold half the number of values.
    {.name = "c10::float4_e2m1fn_x2", .bytes = 1, .precision = "fp4"},
    {.name = "fp4", .bytes = 1, .precision = "fp4"},
    {.name = "mxfp4", .bytes = 0, .precision = "fp4"},
    {.name = "long int", .bytes = 8, .precision = ""},
    {.name = "int", .bytes = 4, .precision = ""},
    {.name = "scalar", .bytes = 4, .precision = ""},
    {.name = "signed char", .bytes = 1, .precision = "", .our_precision = "int8"},
    // Serving frameworks pass packed 8-bit floats as bytes.
    {.name = "unsigned char", .bytes = 1, .precision = "fp8"},
    {.name = "bool", .bytes = 1, .precision = "", .edition = kExtended},
    {.name = "short int", .bytes = 2, .precision = "", .edition = kExtended},
    {.name = "unsigned short", .bytes = 2, .precision = "", .edition = kExtended},
    {.name = "short unsigned int", .bytes = 2, .precision = "", .edition = kExtended},
    {.name = "unsigned int", .bytes = 4, .precision = "", .edition = kExtended},
    {.name = "long unsigned int", .bytes = 8, .precision = "", .edition = kExtended},
    {.name = "unsigned long", .bytes = 8, .precision = "", .edition = kExtended},
    {.name = "c10::complex<c10::half>", .bytes = 4, .precision = "fp16", .edition = kExtended},
    {.name = "c10::complex<float>", .bytes = 8, .precision = "fp32", .edition = kExtended},
    {.name = "c10::complex<double>", .bytes = 16, .precision = "fp64", .edition = kExtended},
};

bool equals_ignoring_case(std::string_view text, std::string_view lower) {
  return std::ranges::equal(text, lower, {}, [](char c) {
    return c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c;
  });
}

const Dtype* find(std::string_view type, Edition edition) {
  for (const Dtype& dtype : kDtypes)
    if (equals_ignoring_case(type, dtype.name)) return dtype.edition > edition ? nullptr : &dtype;
  return nullptr;
}

}  // namespace

std::optional<double> element_bytes(std::string_view type, Edition edition) {
  const Dtype* dtype = find(type, edition);
  if (!dtype || dtype->bytes == 0) return std::nullopt;
  return dtype->bytes;
}

std::string_view precision(std::string_view type, Edition edition) {
  const Dtype* dtype = find(type, edition);
  if (!dtype) return {};
  if (edition == kExtended && !dtype->our_precision.empty()) return dtype->our_precision;
  return dtype->precision;
}

std::string compute_spec(Unit unit, std::string_view precision) {
  if (precision.empty()) return {};
  return (unit == Unit::kMatrix ? "matrix_" : "vector_") + std::string{precision};
}

}  // namespace tracelens::perf
