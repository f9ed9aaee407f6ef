#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <tracelens/collectives.hpp>
#include <tracelens/diagnose.hpp>
#include <tracelens/error.hpp>
#include <tracelens/sinks.hpp>

#include "verb.hpp"

namespace tracelens::app {
namespace {

// The ranks of a job that a folder, an archive or a pattern stands for; empty: it is one trace. Of JAX a
// folder is one run of all its hosts.
std::vector<RankFile> ranks_of(const std::string& path) {
  const bool is_pattern = path.find_first_of("*?") != std::string::npos;
  std::error_code error;
  if (!is_pattern && !std::filesystem::is_directory(path, error)) return {};
  try {
    std::vector<RankFile> files = find_rank_files({path});
    const bool is_jax = std::ranges::any_of(files, [](const RankFile& file) {
      return file.path.find(".xplane.pb") != std::string::npos;
    });
    return is_jax && !is_pattern ? std::vector<RankFile>{} : files;
  } catch (const Error&) {
    if (is_pattern) throw;
    return {};  // the reader says what the folder lacks
  }
}

}  // namespace

class DiagnoseVerb : public Verb {
 public:
  void declare(Flags& flags) override {
    input_.declare(flags);
    captures_.declare(flags);
    flags.add("-o,--output", output_,
              "Where to write: a file (.json, .md, .html, .txt, .xlsx) or a folder for CSV files "
              "(out/); by default the terminal alone");
    flags.add("--gpu", options_.gpu.name,
              "GPU whose peaks the rules about rates use; by default the trace's");
    flags.add("--gpu-arch", options_.gpu.file, "The same from a JSON file").check(existing_file());
    flags
        .add("--steps", options_.steps,
             "Which steps count: steady (without warm-up), all, or their numbers: 3-5")
        .show_default();
    flags
        .add("--min-saving", options_.min_saving_percent,
             "Leave out what saves less than this many percent")
        .check(between(0.0, 100.0))
        .show_default();
    flags.add("--top", top_, "Findings shown; all of them are written")
        .check(count_from(1))
        .show_default();
    flags.add("--only", options_.only, "Only these rules: SYNC-1,GEMM-*")
        .repeatable()
        .separated_by(',');
    flags.add("--skip", options_.skip, "Without these rules").repeatable().separated_by(',');
    flags
        .add("--rules", options_.rules_file,
             "JSON file that sets numbers of the rules: {\"DATA-1.least_pct\": 3}")
        .check(existing_file());
    flags.add("--list-rules", list_rules_, "Show the rules and their numbers, and read nothing");
    flags
        .add("--link-gbps", options_.link_gbps,
             "Peak of the link between GPUs, in GB/s, for findings about collectives")
        .check(number_above(0));
    flags
        .add("--host-gbps", options_.host_gbps,
             "Peak of the link to the host, in GB/s, for findings about copies")
        .check(number_above(0));
    flags
        .add("--against", against_,
             "Another trace of the same program, which shows what is possible: findings CMP-* tell "
             "what takes longer than there")
        .check(existing_file());
    flags.add("--no-overhead-correction", no_correction_,
              "Take times as recorded, with what recording costs the host");
    flags
        .add("--fail-if", gates_,
             "Gate, may be given several times: 'saving > 10%', 'finding:SYNC-* > 2%'")
        .repeatable();
    flags.add("--gate-results", gate_results_,
              "Also write the outcome of the gates: JUnit XML, or JSON for a name in .json");
    flags.footer(
        "Findings come in the order in which they are best mended; what each saves counts those "
        "before it\nas mended. Exit status 1 when a gate fails.\n"
        "Examples:\n"
        "  tracelens diagnose trace.json.gz                       verdict, findings, what to try\n"
        "  tracelens diagnose traces/                             the ranks of a job: who is late\n"
        "  tracelens diagnose slow.json.gz --against fast.json.gz    what the other does better\n"
        "  tracelens diagnose trace.json.gz -o findings.json      for programs\n"
        "  tracelens diagnose trace.json.gz --fail-if 'saving > 10%'   a gate for CI");
  }

  int run(Console& console) override {
    if (list_rules_) {
      const Table rules = rule_list();
      if (output_.empty())
        console.show(rules, 0);
      else
        write_tables({&rules, 1}, output_, {.title = "Rules of tracelens diagnose"});
      return kExitOk;
    }
    refuse_overwriting({output_, gate_results_},
                       {input_.path(), options_.gpu.file, options_.rules_file, against_},
                       captures_.all());
    captures_.check(against_.empty() ? 1 : 2);
    if (!output_.empty()) check_diagnosis_output(output_);
    if (!gate_results_.empty() && gates_.empty())
      throw Error{"--gate-results", "there is no --fail-if whose outcome it could tell"};
    check_gate_texts(gates_);
    check_options(options_);
    options_.threads = input_.threads();
    options_.corrects_overhead = !no_correction_;
    const Diagnosis diagnosis = make(console);
    if (!console.quiet)
      console.print(diagnosis_text(diagnosis, {.width = console.style().width, .top = top_}));
    if (!output_.empty()) {
      write_diagnosis(diagnosis, output_);
      console.note(fmt::format("wrote {} finding{} to {}", diagnosis.findings.size(),
                               diagnosis.findings.size() == 1 ? "" : "s", output_));
    }
    return tell_gates(check_gates(diagnosis, gates_), console);
  }

 private:
  Diagnosis make(Console& console) {
    Trace other;
    if (!against_.empty()) {
      other = with_captures(read_with_warnings(against_, console), 1, console);
      options_.against = &other;
    }
    if (const std::vector<RankFile> ranks = ranks_of(input_.path()); !ranks.empty()) {
      if (!captures_.all().empty())
        throw Error{"--capture", "fills in the graph launches of one trace, not of a job's ranks"};
      return diagnose_ranks(ranks, options_);
    }
    return diagnose(with_captures(input_.read(console), 0, console), options_);
  }

  Trace with_captures(Trace trace, std::size_t which, const Console& console) const {
    return stitched(std::move(trace), captures_.of(which),
                    {.threads = input_.threads(), .python_frames = true}, console);
  }

  int tell_gates(const std::vector<GateOutcome>& outcomes, const Console& console) const {
    if (!gate_results_.empty()) write_gates(outcomes, gate_results_);
    return console.tell_gates(outcomes) ? kExitOk : kExitCheckFailed;
  }

  TraceInput input_;
  CaptureFolders captures_;
  std::string output_, gate_results_, against_;
  DiagnoseOptions options_;
  std::vector<std::string> gates_;
  std::size_t top_ = 10;
  bool list_rules_ = false, no_correction_ = false;
};

template std::unique_ptr<Verb> make_verb<DiagnoseVerb>();

}  // namespace tracelens::app
