// verb.hpp: what every `tracelens <verb>` is: its flags, and a function that reads like the manual.
// To add one: a file like verbs/info.cpp, and a row in verbs.cpp. A script of the Python TraceLens
// is a verb with the script's flags: a file in scripts/, and a row in verbs.cpp too.
#pragma once

#include <memory>
#include <string>
#include <tracelens/graph_stitching.hpp>
#include <tracelens/pseudo_ops.hpp>
#include <tracelens/trace.hpp>
#include <vector>

#include "console.hpp"
#include "flags.hpp"
#include "outputs.hpp"

namespace tracelens::app {

class Verb {
 public:
  virtual ~Verb() = default;
  virtual void declare(Flags& flags) = 0;  // the only list of flags: --help comes from it
  virtual int run(Console& console) = 0;   // the exit status
};

// Each verb's file ends with `template std::unique_ptr<Verb> make_verb<ItsClass>();`, so that the
// row of a table, which names make_verb<class ItsClass>, needs no other declaration.
template <class SomeVerb>
std::unique_ptr<Verb> make_verb() {
  return std::make_unique<SomeVerb>();
}

// A trace among others, read on all cores, with a progress bar and the reader's warnings.
[[nodiscard]] Trace read_with_warnings(const std::string& path, const Console& console);

// Its kernels inside graph launches below the ops captured in a folder, and warnings about how well
// that went; without a folder the trace as it is.
[[nodiscard]] Trace stitched(Trace trace, const std::string& captures, const StitchOptions& options,
                             const Console& console);
inline constexpr const char* kCaptureHelp =
    "Folder of traces of graph captures (or one such trace): kernels of graph launches are "
    "attributed to the ops that were captured";

// The captures of several traces: --capture once for all of them, or once for each.
class CaptureFolders {
 public:
  void declare(Flags& flags);
  // `traces`: how many there are. Throws UsageError when there is another number of folders.
  void check(std::size_t traces) const;
  [[nodiscard]] const std::vector<std::string>& all() const { return folders_; }
  [[nodiscard]] std::string of(std::size_t trace) const;  // empty: none

 private:
  std::vector<std::string> folders_;
};

// The ops that are put around the work of serving engines. Every verb that is about ops has them,
// or the verbs would not agree about a trace; --no-pseudo-ops leaves them out.
class PseudoOps {
 public:
  void declare(Flags& flags);
  [[nodiscard]] Trace put_into(Trace trace) const;

 private:
  bool left_out_ = false;
};

// What traces of DeepSeek-V4 do not tell stands in the environment: TL_MODEL and TL_TP, as for the
// Python TraceLens.
[[nodiscard]] PseudoOpOptions pseudo_op_options(Edition edition);

// The trace a verb is about, with the flags that go with reading one.
class TraceInput {
 public:
  void declare(Flags& flags);
  void declare_captures(Flags& flags);  // --capture, for verbs that are about recorded ops
  void declare_command(Flags& flags);   // --show-command, for verbs that tell of processes
  void declare_ops(Flags& flags);       // and --no-pseudo-ops: for verbs that are about all ops
  // Reads it, with a progress bar. Without a trace on the command line: the demo trace, and says
  // so. Warnings of the reader go to stderr.
  [[nodiscard]] Trace read(Console& console) const;
  // The same, with the kernels of graph launches below their captured ops where --capture is given.
  // `python_frames`: with those of the capture.
  [[nodiscard]] Trace read_stitched(Console& console, bool python_frames) const;
  // The same, with pseudo-ops.
  [[nodiscard]] Trace read_ops(Console& console, bool python_frames) const;
  [[nodiscard]] const PseudoOps& pseudo_ops() const { return pseudo_ops_; }
  [[nodiscard]] int threads() const { return threads_; }
  [[nodiscard]] const std::string& captures() const { return captures_; }  // empty: none
  // What is read: as given, or the demo trace. Throws Error when there is neither.
  [[nodiscard]] std::string path() const;
  [[nodiscard]] std::vector<std::string> paths() const;  // of a job that is in several files

 private:
  std::vector<std::string> paths_;
  std::string captures_, assume_dtype_;
  PseudoOps pseudo_ops_;
  bool salvage_ = false, rename_kernels_ = false, shows_command_ = false;
  int threads_ = 0, time_limit_s_ = 0;
};

}  // namespace tracelens::app
