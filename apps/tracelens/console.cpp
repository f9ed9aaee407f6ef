#include "console.hpp"

#include <fmt/format.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include <cerrno>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <exception>
#include <memory>
#include <new>
#include <string>
#include <tracelens/error.hpp>
#include <tracelens/printed_text.hpp>
#include <utility>

#include "memory_limit.hpp"

namespace tracelens::app {
namespace {

using Clock = std::chrono::steady_clock;
constexpr auto kBeforeFirstBar = std::chrono::milliseconds{300};  // short loads show none
constexpr auto kBetweenBars = std::chrono::milliseconds{100};
constexpr int kBarCells = 24;

std::size_t terminal_width() {
  if (const char* const columns = std::getenv("COLUMNS"); columns != nullptr)
    if (const long width = std::strtol(columns, nullptr, 10); width > 0)
      return static_cast<std::size_t>(width);
  winsize size{};
  if (::ioctl(STDOUT_FILENO, TIOCGWINSZ, &size) == 0 && size.ws_col > 0) return size.ws_col;
  return 0;  // a file or another program, which has no edge
}

bool is_set(const char* variable) {
  const char* const value = std::getenv(variable);
  return value != nullptr && *value != '\0';
}

void write(std::FILE* file, std::string_view text) {
  (void)std::fwrite(text.data(), 1, text.size(), file);  // flush() looks at the outcome
}

void line(std::string_view mark, std::string_view sentence) {
  std::fflush(stdout);  // what was printed before stands before, also when both go to one place
  const std::string text = fmt::format("tracelens: {}{}", mark, single_line(sentence));
  write(stderr, printed_lines(text, ColourCodes::kRemove) + "\n");
}

std::string bar_text(const ReadProgress& progress, std::chrono::duration<double> elapsed) {
  const double megabytes = static_cast<double>(progress.text_bytes) / 1e6;
  std::string text = fmt::format("{:.0f} MB, {:.2f}M events", megabytes,
                                 static_cast<double>(progress.events) / 1e6);
  if (progress.fraction <= 0) return text;  // a pipe: nobody knows how much is to come
  const int filled = static_cast<int>(progress.fraction * kBarCells);
  const double left = elapsed.count() * (1 - progress.fraction) / progress.fraction;
  return fmt::format("[{:<{}}] {:3.0f}%  {}, {:.0f} s left",
                     std::string(static_cast<std::size_t>(filled), '#'), kBarCells,
                     progress.fraction * 100, text, left);
}

}  // namespace

Console::Console() {
  const bool stdout_is_terminal = ::isatty(STDOUT_FILENO) == 1;
  const char* const terminal = std::getenv("TERM");
  const bool is_dumb = terminal != nullptr && std::string_view{terminal} == "dumb";
  stderr_is_terminal_ = ::isatty(STDERR_FILENO) == 1 && !is_dumb;
  style_.colour = stdout_is_terminal && !is_dumb && !is_set("NO_COLOR");
  style_.width = terminal_width();
}

int Console::tell_exception() const {
  try {
    throw;
  } catch (const Error& problem) {
    clear_progress();
    error(problem.what());
    return kExitBadInput;
  } catch (const std::bad_alloc&) {
    clear_progress();
    error(out_of_memory());
    return kExitBadInput;
  } catch (const std::exception& problem) {
    error(fmt::format("this is a bug in TraceLens: {}", problem.what()));
    return kExitBug;
  }
}

bool Console::flush() const {
  errno = 0;
  const bool flushed = std::fflush(stdout) == 0 && std::ferror(stdout) == 0;
  return flushed || errno == EPIPE;
}

void Console::print(std::string_view text) const {
  write(stdout, printed_lines(text, style_.colour ? ColourCodes::kKeep : ColourCodes::kRemove));
}

void Console::say(std::string_view sentence, std::size_t indent) const {
  print(wrapped_text(fmt::format("{}\n", sentence), style_.width, indent));
}

void Console::show(const Table& table, std::size_t max_rows,
                   std::vector<std::string_view> columns) const {
  if (quiet) return;
  TerminalStyle style = style_;
  style.max_rows = max_rows;
  style.columns = std::move(columns);
  print(render_terminal(table, style) + "\n");
}

void Console::show(const Report& report, std::string_view verb) const {
  if (quiet) return;
  if (report.overview) print(overview_text(*report.overview, {style_.width, style_.colour}) + "\n");
  if (verb.empty())
    for (const Table& table : report.tables) {
      const Excerpt excerpt = excerpt_of(table);
      show(table, excerpt.rows, excerpt.columns);
    }
  else if (verbose || !report.overview)
    for (const auto& [name, rows, columns] : first_tables(report, verb))
      show(*report.find(name), rows, columns);
}

void Console::note_written(const Report& report, std::string_view output) const {
  const std::size_t tables = report.tables.size();
  note(fmt::format("wrote {} table{} to {}", tables, tables == 1 ? "" : "s", output));
}

void Console::note(std::string_view sentence) const {
  if (!quiet) line("", sentence);
}
void Console::detail(std::string_view sentence) const {
  if (verbose) line("", sentence);
}
void Console::warn(std::string_view sentence) const {
  if (!quiet) line("warning: ", sentence);
}
void Console::error(std::string_view sentence) const { line("error: ", sentence); }

bool Console::tell_gates(std::span<const GateOutcome> gates) const {
  bool all_passed = true;
  for (const GateOutcome& gate : gates) {
    all_passed = all_passed && gate.passed;
    if (gate.passed) {
      note(fmt::format("ok: {} ({})", gate.gate, gate.summary));
      continue;
    }
    error(fmt::format("gate failed: {}", gate.gate));
    for (const std::string& sentence : gate.evidence) error("  " + sentence);
  }
  return all_passed;
}

std::function<void(const ReadProgress&)> Console::progress_bar() const {
  if (quiet || !stderr_is_terminal_) return nullptr;
  struct State {
    Clock::time_point start = Clock::now(), next = start + kBeforeFirstBar;
  };
  return [state = std::make_shared<State>()](const ReadProgress& progress) {
    const auto now = Clock::now();
    if (now < state->next) return;
    state->next = now + kBetweenBars;
    write(stderr, "\r\x1b[2K" + bar_text(progress, now - state->start));
  };
}

void Console::clear_progress() const {
  if (!quiet && stderr_is_terminal_) write(stderr, "\r\x1b[2K");
}

}  // namespace tracelens::app
