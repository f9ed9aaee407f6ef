#include "page_flags.hpp"

#include <fmt/format.h>

#include <charconv>
#include <cmath>
#include <string_view>
#include <tracelens/redact.hpp>

namespace tracelens::app {
namespace {

// "12.5ms", "800us", "1s", "40000ns"; none: not understood.
std::optional<std::int64_t> time_of(std::string_view text) {
  double value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  const std::string_view unit{end, static_cast<std::size_t>(text.data() + text.size() - end)};
  const double ns = unit == "ns"   ? 1
                    : unit == "us" ? 1e3
                    : unit == "ms" ? 1e6
                    : unit == "s"  ? 1e9
                                   : 0;
  constexpr double kLongest = 9e15;  // beyond it a double is no longer exact
  if (error != std::errc{} || ns == 0 || !(value >= 0) || value * ns > kLongest)
    return std::nullopt;
  return std::llround(value * ns);
}

Interval window_of(const std::string& text) {
  const std::size_t dots = text.find("..");
  const auto start = time_of(std::string_view{text}.substr(0, dots));
  const auto end =
      dots == std::string::npos ? std::nullopt : time_of(std::string_view{text}.substr(dots + 2));
  if (!start || !end || *start >= *end)
    throw UsageError{fmt::format(
        "--window {}: expected two times from the first event on, such as 12.5ms..13.1ms", text)};
  return {*start, *end};
}

}  // namespace

void PageFlags::declare(Flags& flags) {
  flags.add("--title", title_, "Title of the document");
  flags.add("--window", window_,
            "Of a page: lanes of this part alone, in full detail: 12.5ms..13.1ms from the first "
            "event on");
  flags
      .add("--page-slices", slices_,
           "Of a page: GPU slices it may hold, 150000 by default; short ones are merged beyond it")
      .check(count_from(1));
}

void PageFlags::declare_redact(Flags& flags) {
  flags.add("--redact", redacts_,
            "Replace names of modules, ranges, own ops, threads, files and hosts by numbered ones: "
            "for showing the document to others");
}

std::optional<PageOptions> PageFlags::options(const std::string& output) const {
  if (!output.ends_with(".html")) {
    if (!window_.empty() || slices_)
      throw UsageError{"--window and --page-slices are for pages: -o report.html"};
    return std::nullopt;
  }
  PageOptions options;
  if (slices_) options.gpu_slices = *slices_;
  if (!window_.empty()) {
    options.window = window_of(window_);
    options.host_slices = options.gpu_slices;
  }
  return options;
}

Trace PageFlags::shown(Trace trace) const { return redacts_ ? redacted(trace) : std::move(trace); }

void PageFlags::set_title(std::string& title) const {
  if (!title_.empty()) title = title_;
}

}  // namespace tracelens::app
