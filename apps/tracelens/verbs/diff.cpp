#include <fmt/format.h>

#include <tracelens/compare.hpp>
#include <tracelens/report.hpp>
#include <tracelens/sinks.hpp>

#include "page_flags.hpp"
#include "verb.hpp"

namespace tracelens::app {

class DiffVerb : public Verb {
 public:
  void declare(Flags& flags) override {
    flags.add("before", before_, "Trace to start from, of any format").required();
    flags.add("after", after_, "Trace to compare with it").required();
    flags.add("-o,--output", output_,
              "Where to write: a folder (diff/) gets the merged tree, the tables, the op maps "
              "and the note; a file .xlsx, .html or .json the tables, .md the note");
    add_csv_raw(flags, csv_raw_);
    page_.declare(flags);
    page_.declare_redact(flags);
    flags.add("--summary", summary_, "Print the performance note, in Markdown");
    flags.add("--improved", improved_,
              "Align threads and names instead of positions, and count memory fills; without it "
              "the rows are those of the Python TraceLens. Always so for a .html page");
    flags.add("--python-stack", options_.python_frames,
              "Python functions and modules take part in the call trees");
    flags.add("--prune-non-gpu", options_.prune_idle_roots,
              "Leave calls at the top without GPU work out of the merged tree");
    captures_.declare(flags);
    pseudo_ops_.declare(flags);
    flags.footer(
        "ops_diff and substitutions, and the note, always use the improved alignment.\n"
        "Examples:\n"
        "  tracelens diff base.json.gz new.json.gz -o diff/\n"
        "  tracelens diff base.json.gz new.json.gz -o diff.html     a page to look at\n"
        "  tracelens diff base.json.gz new.json.gz --summary");
  }

  int run(Console& console) override {
    if (!output_.empty()) check_sink_for_several(output_);
    // People read a page, no script does.
    options_.page = page_.options(output_);
    if (improved_ || options_.page) options_.edition = Edition::kExtended;
    captures_.check(2);
    refuse_overwriting({output_}, {before_, after_}, captures_.all());
    const auto read = [&](const std::string& path, std::size_t which) {
      return pseudo_ops_.put_into(stitched(page_.shown(read_with_warnings(path, console)),
                                           captures_.of(which),
                                           {.python_frames = options_.python_frames}, console));
    };
    const Trace before = read(before_, 0), after = read(after_, 1);
    TraceDiff diff = diff_traces(before, after, options_);
    diff.report.csv_raw = csv_raw_;
    page_.set_title(diff.report.title);
    for (const std::string& sentence : diff.report.warnings) console.warn(sentence);
    if (!output_.empty()) {
      write_diff(diff, output_);
      console.note(fmt::format("wrote {}", output_));
    }
    if (summary_) {
      console.print(diff.note);
      return kExitOk;
    }
    for (const auto& [name, rows, columns] : first_tables(diff.report, "diff"))
      console.show(*diff.report.find(name), rows, columns);
    return kExitOk;
  }

 private:
  std::string before_, after_, output_;
  bool summary_ = false, improved_ = false, csv_raw_ = false;
  PageFlags page_;
  CaptureFolders captures_;
  PseudoOps pseudo_ops_;
  DiffOptions options_;
};

template std::unique_ptr<Verb> make_verb<DiffVerb>();

}  // namespace tracelens::app
