#include "analysis/kit/findings.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "facts/trace_kind.hpp"

namespace tracelens {
namespace {

// What readers say of a sound file: what was not recorded or is not read, and words of the profiler
// itself. All else that they warn of is damage.
bool is_notice(std::string_view what) {
  constexpr std::array<std::string_view, 5> kBeginnings = {
      "compiled module without its HLO",
      "the profiler says: ", "plane /device:", "Python frames and runtime internals left out",
      "processes of several machines"};
  return what.ends_with(" records, which are not read") ||
         std::ranges::any_of(kBeginnings,
                             [&](std::string_view begin) { return what.starts_with(begin); });
}

}  // namespace

void Findings::add(Verdict level, std::string_view what, std::string_view detail,
                   std::string_view fix) {
  constexpr std::array<std::string_view, 3> kLevels = {"ok", "warn", "fail"};
  verdict_ = std::max(verdict_, level);
  table_.add_row(kLevels[static_cast<std::size_t>(level)], what, detail, fix);
}

Table Findings::make_table() {
  const ColumnSpec columns[] = {
      {"level", Kind::kText, "", "ok, warn or fail"},
      {"what", Kind::kText, "", "what was looked at"},
      {"detail", Kind::kText, "text", "what was found"},
      {"how to fix", Kind::kText, "text", "what to change when recording"}};
  return Table{"check", "Whether the trace is fit for analysis", columns};
}

void Findings::check_file(const Trace& trace) {
  if (trace.size() == 0)
    fail("events", "the trace has none", "check that the profiler ran and was exported");
  else
    ok("events", counted(trace.size(), "event"));
  if (trace.source().cut_short)
    warn("file", "cut short: events after the cut are missing",
         "let the export finish; copy the file again");
  const bool is_database = trace_kind(trace) == TraceKind::kDatabase;  // where no byte is the first
  bool is_sound = !trace.source().cut_short;
  for (const Warnings::Entry& entry : trace.warnings().entries()) {
    const bool is_told = is_database || is_notice(entry.what);
    is_sound = is_sound && is_told && !is_database;
    if (is_told)
      warn("notice", entry.count == 1 ? entry.what : fmt::format("{}: {}", entry.what, entry.count),
           is_database ? "docs/guide/databases.md says what such a file can tell" : "");
    else
      warn("damage",
           fmt::format("{}: {}, first at byte {}", entry.what, entry.count, entry.first_byte),
           "record or copy the trace again if it matters");
  }
  if (is_sound) ok("file", "complete, no damaged events");
}

std::string counted(std::uint64_t count, std::string_view what) {
  return fmt::format("{} {}{}", count, what, count == 1 ? "" : "s");
}

std::string share(std::uint64_t part, std::uint64_t whole) {
  return fmt::format(
      "{} of {} ({:.1f}%)", part, whole,
      whole == 0 ? 0.0 : 100.0 * static_cast<double>(part) / static_cast<double>(whole));
}

}  // namespace tracelens
