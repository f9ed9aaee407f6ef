// verb.hpp: what every `tracelens <verb>` is: its flags, and a function that reads like the manual.
// To add one: a file like info.cpp, a line in verbs.hpp and one in kVerbs (main.cpp).
#pragma once

#include <CLI/CLI.hpp>
#include <memory>
#include <string>
#include <tracelens/trace.hpp>

#include "console.hpp"

namespace tracelens::app {

class Verb {
 public:
  virtual ~Verb() = default;
  virtual void declare(CLI::App& verb) = 0;  // the only list of flags: --help comes from it
  virtual int run(Console& console) = 0;     // the exit status
};

// Throws Error when `output` is the same file as `trace`: a result never replaces its input.
void refuse_same_file(const std::string& trace, const std::string& output);

// A trace among others, read on all cores, with a progress bar and the reader's warnings.
[[nodiscard]] Trace read_with_warnings(const std::string& path, const Console& console);

// The trace a verb is about, with the flags that go with reading one.
class TraceInput {
 public:
  void declare(CLI::App& verb);
  // Reads it, with a progress bar. Without a trace on the command line: the demo trace, and says
  // so. Warnings of the reader go to stderr.
  [[nodiscard]] Trace read(Console& console) const;
  [[nodiscard]] int threads() const { return threads_; }
  // Throws Error when `output` is the trace itself. Called before anything is read.
  void check_output(const std::string& output) const;

 private:
  std::string path_;
  int threads_ = 0;
};

}  // namespace tracelens::app
