#include <fmt/format.h>

#include <charconv>
#include <cstdlib>
#include <filesystem>
#include <system_error>
#include <tracelens/error.hpp>
#include <tracelens/graph_stitching.hpp>
#include <tracelens/read_trace.hpp>
#include <utility>

#include "huge_pages.hpp"
#include "verb.hpp"

namespace tracelens::app {
namespace {

namespace fs = std::filesystem;

// The wrapper of a checkout names it; an installed program has it in its share folder.
std::string demo_trace() {
  if (const char* const path = std::getenv("TRACELENS_DEMO"); path != nullptr) return path;
  std::error_code error;
  const fs::path program = fs::read_symlink("/proc/self/exe", error);
  const fs::path demo = program.parent_path().parent_path() / "share/tracelens/demo.json.gz";
  if (error || !fs::exists(demo, error))
    throw Error{"trace", "no trace given, and the demo trace is not installed"};
  return demo.string();
}

// The pages of a database are in no order: there, no byte is the first.
void tell_warnings(const std::string& path, const Trace& trace, const Console& console) {
  const Recorder recorder = trace.source().recorder;
  const bool is_database =
      recorder == Recorder::kRocpd || recorder == Recorder::kRpd || recorder == Recorder::kNsight;
  for (const auto& [what, count, byte] : trace.warnings().entries()) {
    std::string how_often;
    if (!is_database)
      how_often = fmt::format(" ({}x, first at byte {})", count, byte);
    else if (count > 1)
      how_often = fmt::format(" ({}x)", count);
    console.warn(fmt::format("{}: {}{}", path, what, how_often));
  }
}

// Of a folder: which files of it were read. Worth a line where there was a choice.
void tell_files(const std::string& path, const Trace& trace, const Console& console) {
  const Value* const run = trace.metadata("profile_run");
  if (run == nullptr) return;
  const std::vector<Value>& files = run->find("files")->items();
  const std::int64_t runs = run->find("runs")->as_int();
  const std::string sentence = fmt::format(
      "{}: read {} profile{} of {}{}", path, files.size(), files.size() == 1 ? "" : "s",
      run->find("folder")->as_text(), runs > 1 ? fmt::format(", the newest of {} runs", runs) : "");
  if (runs > 1 || files.size() > 1)
    console.note(sentence);
  else
    console.detail(sentence);
  for (const Value& file : files) console.detail("  " + file.as_text());
}

}  // namespace

PseudoOpOptions pseudo_op_options(Edition edition) {
  PseudoOpOptions options{.edition = edition};
  if (const char* const name = std::getenv("TL_MODEL")) options.model_name = name;
  if (const char* const ranks = std::getenv("TL_TP")) {
    const std::string_view text{ranks};
    std::from_chars(text.data(), text.data() + text.size(), options.tensor_parallel);
  }
  return options;
}

Trace read_with_warnings(const std::string& path, const Console& console) {
  prepare_memory_for({path});
  Trace trace = read_trace(path, {.threads = 0, .on_progress = console.progress_bar()});
  console.clear_progress();
  tell_files(path, trace, console);
  for (const auto& warning : trace.warnings().entries())
    console.warn(fmt::format("{}: {} ({}x)", path, warning.what, warning.count));
  return trace;
}

Trace stitched(Trace trace, const std::string& captures, const StitchOptions& options,
               const Console& console) {
  if (captures.empty()) return trace;
  StitchedTrace result = stitch_graphs(std::move(trace), captures, options);
  for (const std::string& sentence : stitching_warnings(result.trace, result.stitching))
    console.warn(sentence);
  return std::move(result.trace);
}

void PseudoOps::declare(Flags& flags) {
  flags.add("--no-pseudo-ops", left_out_,
            "Leave out the ops that are put around the work of serving engines, see "
            "docs/guide/pseudo-ops.md");
}

Trace PseudoOps::put_into(Trace trace) const {
  if (left_out_) return trace;
  return add_pseudo_ops(std::move(trace), pseudo_op_options(Edition::kExtended));
}

void CaptureFolders::declare(Flags& flags) {
  flags
      .add("--capture", folders_,
           fmt::format("{}. Once for all traces, or once for each, in their order", kCaptureHelp))
      .repeatable();
}

void CaptureFolders::check(std::size_t traces) const {
  if (folders_.size() > 1 && folders_.size() != traces)
    throw UsageError{
        fmt::format("--capture is given {} times for {} traces: give it once, or once "
                    "for each of them",
                    folders_.size(), traces)};
}

std::string CaptureFolders::of(std::size_t trace) const {
  if (folders_.empty()) return {};
  return folders_.size() == 1 ? folders_.front() : folders_.at(trace);
}

void TraceInput::declare_captures(Flags& flags) { flags.add("--capture", captures_, kCaptureHelp); }

void TraceInput::declare_command(Flags& flags) {
  flags.add("--show-command", shows_command_,
            "Also how the processes were started, which rocprofv3 stores");
}

void TraceInput::declare_ops(Flags& flags) {
  declare_captures(flags);
  pseudo_ops_.declare(flags);
}

Trace TraceInput::read_ops(Console& console, bool python_frames) const {
  return pseudo_ops_.put_into(read_stitched(console, python_frames));
}

Trace TraceInput::read_stitched(Console& console, bool python_frames) const {
  return stitched(read(console), captures_, {.threads = threads_, .python_frames = python_frames},
                  console);
}

void TraceInput::declare(Flags& flags) {
  flags.add("trace", paths_,
            "Trace file: PyTorch profiler JSON, JAX XPlane, Perfetto, rocprofv3, or a database of "
            "rocprofv3, rpd or Nsight Systems, plain or packed by gzip, zip or zstd; several "
            "databases are one job; "
            "- reads standard input; without one the demo trace is used");
  flags.add("--assume-dtype", assume_dtype_,
            "Type of the tensors where the ranges of emit_nvtx tell only their shapes: bf16, fp16, "
            "fp32, fp64, fp8 or int8");
  flags.add("--salvage", salvage_, "Of a damaged or cut database, read on behind what is damaged");
  flags.add("--kernel-rename", rename_kernels_,
            "rocpd: call kernels as the marker around their launch");
  flags
      .add("--time-limit", time_limit_s_,
           "Give up a database that takes longer to read, in seconds")
      .check(count_from(1));
  flags
      .add("--threads", threads_,
           "Threads to read with; 0 is one per core. Changes the speed, never the result")
      .check(between(0, 1024))
      .show_default();
}

std::string TraceInput::path() const {
  return paths_.empty() || paths_.front().empty() ? demo_trace() : paths_.front();
}

std::vector<std::string> TraceInput::paths() const {
  return paths_.size() > 1 ? paths_ : std::vector{path()};
}

Trace TraceInput::read(Console& console) const {
  const std::string path = this->path();
  if (paths_.empty()) console.note(fmt::format("no trace given: reading the demo trace {}", path));
  ReadOptions options;
  options.threads = threads_;
  options.assume_dtype = assume_dtype_;
  options.salvage = salvage_;
  options.rename_kernels = rename_kernels_;
  options.command_lines = shows_command_;
  options.time_limit_s = time_limit_s_;
  options.on_progress = console.progress_bar();
  prepare_memory_for(paths());
  Trace trace = paths_.size() > 1 ? read_job(paths_, options) : read_trace(path, options);
  console.clear_progress();
  tell_files(path, trace, console);
  tell_warnings(path, trace, console);
  console.detail(fmt::format("{}: {} events, {} names and texts, {} op signatures", path,
                             trace.size(), trace.string_count(), trace.signature_table().size()));
  return trace;
}

}  // namespace tracelens::app
