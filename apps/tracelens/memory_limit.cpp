#include "memory_limit.hpp"

#include <execinfo.h>
#include <fmt/format.h>
#include <sys/resource.h>

#include <algorithm>
#include <charconv>
#include <cstdlib>
#include <string_view>
#include <tracelens/error.hpp>
#include <tracelens/machine.hpp>

namespace tracelens::app {
namespace {

#ifdef TL_SANITIZED
constexpr bool kIsSanitized = true;
#else
constexpr bool kIsSanitized = false;
#endif
constexpr const char* kVariable = "TRACELENS_MAX_MEMORY";
constexpr std::uint64_t kMegabyte = 1 << 20, kGigabyte = 1 << 30;
constexpr std::uint64_t kLeast = 64 * kMegabyte;  // less does not do for any trace

struct Limit {
  std::optional<std::uint64_t> bytes;
  bool is_chosen = false;  // by the user
  rlimit before{};
};
Limit limit;

// Nothing when it is no size, or one that means nothing.
std::optional<std::uint64_t> bytes_of(std::string_view text) {
  double number = 0;
  const char* const end = text.data() + text.size();
  const auto [unit, error] = std::from_chars(text.data(), end, number, std::chars_format::fixed);
  if (error != std::errc{} || end - unit > 1) return std::nullopt;
  constexpr std::string_view kUnits = "KMGT";
  if (unit != end) {
    const std::size_t power = kUnits.find(*unit);
    if (power == std::string_view::npos) return std::nullopt;
    for (std::size_t i = 0; i <= power; ++i) number *= 1024;
  }
  constexpr double kMost = 1e18;
  if (!(number >= static_cast<double>(kLeast) && number <= kMost)) return std::nullopt;
  return static_cast<std::uint64_t>(number);
}

std::string complaint_about(std::string_view text) {
  return bytes_of(text) ? ""
                        : fmt::format("expected a size of at least {}M, such as 512M or 4G, not {}",
                                      kLeast / kMegabyte, text);
}

std::uint64_t half_of_all() { return std::max(kLeast, usable_memory() / 2); }

// Stacks count as soon as there is a thread, though hardly any of it is ever used. There may be two for each
// thread that is asked for (io/helpers.cpp).
std::uint64_t stacks() {
  rlimit stack{};
  ::getrlimit(RLIMIT_STACK, &stack);
  return std::uint64_t{2} * static_cast<std::uint64_t>(usable_cpus()) *
         std::min<std::uint64_t>(stack.rlim_cur, 8 * kMegabyte);
}

std::string size_text(std::uint64_t bytes) {
  if (bytes >= kGigabyte)
    return fmt::format("{:.3g} GB", static_cast<double>(bytes) / static_cast<double>(kGigabyte));
  return fmt::format("{} MB", bytes / kMegabyte);
}

// An exception that leaves std::call_once() makes the C library load what it unwinds with, which it can
// not when memory has run out: it would end the program instead of passing std::bad_alloc on.
void prepare_to_unwind() {
  void* frame = nullptr;
  (void)::backtrace(&frame, 1);
}

}  // namespace

Check memory_size() { return {"SIZE", complaint_about}; }

void limit_memory(const std::string& size) {
  if (kIsSanitized) return;
  const char* const variable = std::getenv(kVariable);
  const std::string chosen = !size.empty() || variable == nullptr ? size : variable;
  if (!chosen.empty())
    if (const std::string complaint = complaint_about(chosen); !complaint.empty())
      throw Error{kVariable, complaint};
  limit.is_chosen = !chosen.empty();
  if (::getrlimit(RLIMIT_DATA, &limit.before) != 0) return;
  const std::uint64_t bytes = limit.is_chosen ? *bytes_of(chosen) : half_of_all();
  // A lower limit of the shell (ulimit -d) stays: below one that nobody asked for, and if it is hard.
  if (bytes >= (limit.is_chosen ? limit.before.rlim_max : limit.before.rlim_cur)) return;
  rlimit wanted = limit.before;
  wanted.rlim_cur = std::min<rlim_t>(bytes + stacks(), wanted.rlim_max);
  prepare_to_unwind();
  if (::setrlimit(RLIMIT_DATA, &wanted) == 0) limit.bytes = bytes;
}

std::optional<std::uint64_t> memory_limit() { return limit.bytes; }

std::string out_of_memory() {
  if (!limit.bytes) return "not enough memory for this trace";
  ::setrlimit(RLIMIT_DATA, &limit.before);
  return fmt::format(
      "this needs more than {} of memory, {}; --max-memory SIZE or {}=SIZE allows more",
      size_text(*limit.bytes), limit.is_chosen ? "which is the limit" : "half of what there is",
      kVariable);
}

}  // namespace tracelens::app
