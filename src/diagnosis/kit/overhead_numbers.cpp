#include "diagnosis/kit/overhead_numbers.hpp"

#include <cmath>

namespace tracelens {
namespace {

constexpr RecordingCosts kUsual;
constexpr double us(std::int64_t ns) { return static_cast<double>(ns) / 1e3; }
constexpr Number kNumbers[] = {
    {"op_us", us(kUsual.op_ns), "us that recording an op takes"},
    {"call_us", us(kUsual.call_ns), "us that recording a runtime call takes"},
    {"memory_us", us(kUsual.memory_ns), "us that recording an allocation takes"},
    {"python_us", us(kUsual.python_ns), "us that recording a Python frame takes"},
    {"plain_op_us", us(kUsual.plain_op_ns), "us of an op without shapes or Python frames"},
    {"compiled_us", us(kUsual.compiled_ns),
     "us of a kernel launch in compiled code, besides its op"},
    {"largest_share", kUsual.largest_share, "most of any stretch of host time that is taken away"},
    {"compiled_share", kUsual.compiled_share, "the same beside launches of compiled code"},
    {"carry_us", us(kUsual.carry_limit_ns), "us that are taken from later stretches instead"},
};

}  // namespace

std::span<const Number> overhead_numbers() { return kNumbers; }

RecordingCosts recording_costs(const RuleSettings& settings) {
  const Numbers n{kOverheadId, kNumbers, settings};
  const auto ns = [&](std::string_view key) { return std::llround(n[key] * 1e3); };
  return {.op_ns = ns("op_us"),
          .call_ns = ns("call_us"),
          .memory_ns = ns("memory_us"),
          .python_ns = ns("python_us"),
          .plain_op_ns = ns("plain_op_us"),
          .compiled_ns = ns("compiled_us"),
          .largest_share = n["largest_share"],
          .compiled_share = n["compiled_share"],
          .carry_limit_ns = ns("carry_us")};
}

}  // namespace tracelens
