#include "query_shell.hpp"

#include <fmt/format.h>
#include <strings.h>
#include <unistd.h>

#include <chrono>
#include <csignal>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <iostream>
#include <optional>
#include <sstream>
#include <string>
#include <tracelens/error.hpp>
#include <tracelens/files.hpp>
#include <tracelens/printed_text.hpp>
#include <utility>

#ifdef TL_HAS_LIBEDIT
#include <editline/readline.h>
#include <sys/stat.h>
#endif

namespace tracelens::app {
namespace {

namespace fs = std::filesystem;

QuerySession* interrupted_session = nullptr;
extern "C" void stop_statement(int) {
  if (interrupted_session != nullptr) interrupted_session->cancel();
}

constexpr std::string_view kHelp =
    "Statements end with ';'. Commands:\n"
    "  .tables [PATTERN]   tables whose name holds PATTERN\n"
    "  .schema [TABLE]     columns of a table, or all tables\n"
    "  .columns TABLE      the same\n"
    "  .mode FORMAT        table, csv, json, jsonl or md\n"
    "  .output [FILE]      results go there; without FILE: here\n"
    "  .timer on|off       how long statements take\n"
    "  .explain SQL        how a statement would be run\n"
    "  .read FILE          run the statements of a file\n"
    "  .examples           questions with their SQL\n"
    "  .quit\n";

// Lines from a person with history and completion, or from a pipe.
class Lines {
 public:
  explicit Lines(QuerySession& session) : is_terminal_{::isatty(STDIN_FILENO) == 1} {
#ifdef TL_HAS_LIBEDIT
    if (!is_terminal_) return;
    completed() = &session;
    rl_readline_name = const_cast<char*>("tracelens");
    rl_attempted_completion_function = complete;
    using_history();
    stifle_history(kHistoryLines);
    history_file_ = history_file();
    if (!history_file_.empty()) read_history(history_file_.c_str());
#else
    (void)session;
#endif
  }
  Lines(const Lines&) = delete;
  Lines& operator=(const Lines&) = delete;
  ~Lines() {
#ifdef TL_HAS_LIBEDIT
    if (history_file_.empty()) return;
    const mode_t before = ::umask(0077);  // statements may tell what a run is about
    write_history(history_file_.c_str());
    ::umask(before);
    ::chmod(history_file_.c_str(), 0600);
#endif
  }

  [[nodiscard]] bool is_terminal() const { return is_terminal_; }

  std::optional<std::string> next(const char* prompt) {
#ifdef TL_HAS_LIBEDIT
    if (is_terminal_) {
      char* const typed = readline(prompt);
      if (typed == nullptr) return std::nullopt;
      std::string line{typed};
      std::free(typed);
      if (!line.empty() && !history_file_.empty()) add_history(line.c_str());
      return line;
    }
#endif
    if (is_terminal_) std::cout << prompt << std::flush;
    std::string line;
    if (!std::getline(std::cin, line)) return std::nullopt;
    return line;
  }

 private:
#ifdef TL_HAS_LIBEDIT
  static constexpr int kHistoryLines = 1000;

  static QuerySession*& completed() {
    static QuerySession* session = nullptr;
    return session;
  }
  static char** complete(const char* text, int, int) {
    rl_attempted_completion_over = 1;
    return rl_completion_matches(text, next_match);
  }
  static char* next_match(const char* text, int state) {
    static std::vector<std::string> matches;
    static std::size_t at = 0;
    if (state == 0) {
      matches.clear();
      at = 0;
      for (std::string& word : completed()->words())
        if (word.size() >= std::strlen(text) &&
            ::strncasecmp(word.c_str(), text, std::strlen(text)) == 0)
          matches.push_back(std::move(word));
    }
    return at < matches.size() ? ::strdup(matches[at++].c_str()) : nullptr;
  }
  // Empty: there is no place for it.
  static std::string history_file() {
    const char* const state = std::getenv("XDG_STATE_HOME");
    const char* const home = std::getenv("HOME");
    fs::path folder;
    if (state != nullptr && *state == '/')
      folder = state;
    else if (home != nullptr && *home == '/')
      folder = fs::path{home} / ".local/state";
    else
      return {};
    std::error_code error;
    fs::create_directories(folder / "tracelens", error);
    return error ? std::string{} : (folder / "tracelens/query_history").string();
  }
#endif

  bool is_terminal_;
  std::string history_file_;
};

class Shell {
 public:
  Shell(QuerySession& session, const ShellOptions& options, Console& console)
      : session_{session}, options_{options}, console_{console}, lines_{session} {}

  int run() {
    if (lines_.is_terminal()) console_.note("SQL over the trace; .help lists commands");
    std::string statement;
    while (!quits_) {
      const auto line = lines_.next(statement.empty() ? "tracelens> " : "      ...> ");
      if (!line) break;
      if (statement.empty() && line->starts_with('.')) {
        guarded([&] { command(*line); });
        continue;
      }
      statement += *line + "\n";
      if (statement.find_first_not_of(" \t\n\r") == statement.npos) statement.clear();
      if (!ends_statement(statement)) continue;
      run_sql(std::exchange(statement, {}));
    }
    if (!quits_ && !statement.empty()) run_sql(statement);
    return failed_ && !lines_.is_terminal() ? kExitBadInput : kExitOk;
  }

 private:
  template <class Run>
  void guarded(const Run& run) {
    try {
      run();
    } catch (const QueryError& error) {
      failed_ = true;
      tell_query_error(error, console_);
    } catch (const Error& error) {
      failed_ = true;
      console_.error(error.what());
    }
  }

  void run_sql(const std::string& sql) {
    guarded([&] {
      const auto start = std::chrono::steady_clock::now();
      std::string text;
      const auto write = [&](std::string_view part) {
        if (output_.empty())
          console_.print(part);
        else
          text += part;
      };
      const InterruptGuard guard{session_};
      QueryOutput output{options_.format, options_.rows, console_.style(), write};
      session_.run(sql, output.rows(), options_.params);
      if (!output_.empty()) {
        written_ += text;
        write_text_file(output_, written_);
      }
      const std::chrono::duration<double, std::milli> taken =
          std::chrono::steady_clock::now() - start;
      if (timer_) console_.print(fmt::format("{:.1f} ms\n", taken.count()));
    });
    (void)console_.flush();
  }

  void command(const std::string& line) {
    const std::size_t space = line.find(' ');
    const std::string name = line.substr(1, space == line.npos ? line.npos : space - 1);
    const std::size_t word = space == line.npos ? line.npos : line.find_first_not_of(' ', space);
    const std::string rest = word == line.npos ? std::string{} : line.substr(word);
    if (name == "quit" || name == "exit") {
      quits_ = true;
    } else if (name == "help") {
      console_.print(kHelp);
    } else if (name == "tables") {
      const Table tables = session_.tables();
      for (const std::string& table : tables.column("table").texts())
        if (table.find(rest) != table.npos) console_.print(table + "\n");
    } else if (name == "schema" || name == "columns") {
      console_.print(schema_text(session_, rest, console_.style()));
    } else if (name == "mode") {
      if (std::ranges::count(query_format_names(), rest) == 0)
        throw Error{".mode", "expected table, csv, json, jsonl or md"};
      options_.format = query_format(rest);
    } else if (name == "output") {
      output_ = rest;
      written_.clear();
    } else if (name == "timer") {
      timer_ = rest != "off";
    } else if (name == "explain") {
      run_sql("EXPLAIN QUERY PLAN " + rest);
    } else if (name == "read") {
      run_sql(read_text_file(rest));
    } else if (name == "examples") {
      for (const QueryExample& example : query_examples())
        console_.print(fmt::format("-- {}\n{};\n", example.question, example.sql));
    } else {
      throw Error{line, "there is no such command; .help lists them"};
    }
  }

  QuerySession& session_;
  ShellOptions options_;
  Console& console_;
  Lines lines_;
  std::string output_, written_;
  bool timer_ = false, quits_ = false, failed_ = false;
};

}  // namespace

InterruptGuard::InterruptGuard(QuerySession& session) {
  interrupted_session = &session;
  struct sigaction stop = {};
  stop.sa_handler = stop_statement;
  stop.sa_flags = SA_RESTART;
  ::sigaction(SIGINT, &stop, &before_);
}

InterruptGuard::~InterruptGuard() {
  ::sigaction(SIGINT, &before_, nullptr);
  interrupted_session = nullptr;
}

void tell_query_error(const QueryError& error, const Console& console) {
  console.error(error.what());
  std::istringstream lines{error.place()};
  for (std::string line; std::getline(lines, line);)
    std::fputs((single_line(line) + "\n").c_str(), stderr);
}

std::string schema_text(QuerySession& session, const std::string& table,
                        const TerminalStyle& style) {
  if (!table.empty()) return render_terminal(session.columns(table), style);
  return render_terminal(session.tables(), style);
}

int run_shell(QuerySession& session, const ShellOptions& options, Console& console) {
  return Shell{session, options, console}.run();
}

}  // namespace tracelens::app
