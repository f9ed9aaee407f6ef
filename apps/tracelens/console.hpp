// console.hpp: the only place that prints. Results go to stdout, everything else to stderr. Nothing
// of a trace's text reaches the terminal that could command it: see tracelens/printed_text.hpp.
//   console.show(table, 20);
//   console.note("wrote report.xlsx");            // nothing with --quiet
#pragma once

#include <cstddef>
#include <functional>
#include <span>
#include <string_view>
#include <tracelens/compare.hpp>
#include <tracelens/read_trace.hpp>
#include <tracelens/report.hpp>
#include <tracelens/table.hpp>
#include <tracelens/table_text.hpp>
#include <vector>

namespace tracelens::app {

// What the process tells its caller.
inline constexpr int kExitOk = 0;           // fine
inline constexpr int kExitCheckFailed = 1;  // a requested check failed
inline constexpr int kExitBadInput = 2;     // bad usage or input
inline constexpr int kExitBug = 3;          // our own mistake

class Console {
 public:
  bool quiet = false, verbose = false;

  Console();  // finds out about terminals, their width and colours (NO_COLOR, COLUMNS)

  void print(std::string_view text) const;  // stdout, line by line as it is
  // A sentence on stdout, in lines of the terminal's width; all but the first are indented.
  void say(std::string_view sentence, std::size_t indent = 2) const;
  // stdout, unless --quiet; of the columns these, the most important first, or all.
  void show(const Table& table, std::size_t max_rows,
            std::vector<std::string_view> columns = {}) const;
  // The first screen of a report that a verb has made; its first tables where there is none, and
  // with --verbose. Of tables that were asked for by name (no verb), an excerpt of each.
  void show(const Report& report, std::string_view verb) const;
  void note_written(const Report& report, std::string_view output) const;  // "wrote 12 tables to x"
  void note(std::string_view sentence) const;                              // stderr, unless --quiet
  void detail(std::string_view sentence) const;                            // stderr, with --verbose
  void warn(std::string_view sentence) const;                              // stderr, unless --quiet
  void error(std::string_view sentence) const;                             // stderr, always

  // Those that failed with what they are about, the others as notes. Whether all passed.
  [[nodiscard]] bool tell_gates(std::span<const GateOutcome> gates) const;

  // Called while an exception is handled: says what went wrong and returns the exit status for it.
  [[nodiscard]] int tell_exception() const;

  // Whether everything printed so far has arrived; a reader that left early (| head) is fine.
  [[nodiscard]] bool flush() const;

  // Draws a bar on stderr while a trace is read; an empty function when nobody would see it.
  [[nodiscard]] std::function<void(const ReadProgress&)> progress_bar() const;
  void clear_progress() const;

  [[nodiscard]] const TerminalStyle& style() const { return style_; }

 private:
  TerminalStyle style_;
  bool stderr_is_terminal_ = false;
};

}  // namespace tracelens::app
