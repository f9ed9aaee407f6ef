// step_text.hpp: a trace as text, known by its steps.
//   StepText text{"serve.json.gz", options};
//   std::vector<StepText::Part> parts = {{.name = "first.json.gz", .steps = {0, 1}}};
//   text.copy(parts, folder);
// Two passes over the file. The first reads times, threads, names and links, and where each event
// stands in the text; from these it follows what goes where. The second copies the text.
#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <tracelens/split.hpp>
#include <vector>

#include "readers/kineto/kineto.hpp"
#include "report/convert/temporary_files.hpp"
#include "report/sinks/output_folder.hpp"
#include "report/split/copy_parts.hpp"
#include "report/split/step_events.hpp"

namespace tracelens {

class StepText {
 public:
  // The first pass. Throws Error when the trace cannot be read or is no Chrome JSON.
  StepText(std::string trace, const SplitOptions& options);

  [[nodiscard]] const std::string& path() const { return path_; }
  [[nodiscard]] std::span<const StepRoot> steps() const { return steps_; }
  [[nodiscard]] const StepEvents::Stats& stats(std::uint32_t step) const {
    return events_->stats(step);
  }
  [[nodiscard]] const std::vector<std::string>& warnings() const { return warnings_; }

  struct Part {
    std::string name;  // of the file in the folder
    std::vector<std::uint32_t> steps;
    std::uint64_t events = 0;  // copy() counts them
  };
  // Throws Error when a part would replace the trace itself, or the removal of files that an
  // earlier run left in the folder would take it away.
  void check_outputs(std::span<const Part> parts, const std::filesystem::path& folder) const;
  // The second pass. Returns warnings. Call it once.
  [[nodiscard]] std::vector<std::string> copy(std::span<Part> parts, OutputFolder& folder);

 private:
  void read();
  [[nodiscard]] std::string opening() const;
  std::vector<TextRun> find_runs(std::span<Part> parts) const;

  std::string path_;  // as given
  std::string file_;  // what can be read twice
  Edition edition_;
  ReadOptions reading_;
  TemporaryFiles temporary_;
  TextIndex index_;
  bool is_list_ = false;  // the file is a bare list of events
  std::vector<StepRoot> steps_;
  std::optional<StepEvents> events_;
  std::vector<std::string> warnings_;
};

}  // namespace tracelens
