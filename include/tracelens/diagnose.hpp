// diagnose.hpp: what slows a run down, what each cause costs, and what to try.
//   const Diagnosis diagnosis = diagnose(read_trace("rank0.json.gz"));
//   std::cout << diagnosis_text(diagnosis, {});
//   write_diagnosis(diagnosis, "findings.json");          // also .md, .html, .txt, .xlsx, a folder
// Savings are estimates of the time the run would take without the cause, made on its critical path
// and by the arithmetic of its bottlenecks; no millisecond is promised twice. Implemented in
// src/diagnosis and src/report.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <tracelens/collectives.hpp>
#include <tracelens/compare.hpp>
#include <tracelens/finding.hpp>
#include <tracelens/gpu.hpp>
#include <tracelens/model.hpp>
#include <tracelens/table.hpp>
#include <tracelens/trace.hpp>
#include <utility>
#include <vector>

namespace tracelens {

// What is to be known about the trace before the findings are believed.
struct QualityNote {
  std::string id = {}, text = {};
};

struct Diagnosis {
  std::vector<std::string> files = {};
  std::string format = {}, gpu = {};
  std::int64_t devices = 0, ranks = 1;

  // The part of the trace it is about.
  std::int64_t start_ns = 0;      // from the first event on
  std::int64_t length_ns = 0;     // as recorded
  std::int64_t corrected_ns = 0;  // without the time that recording took; shares refer to it
  std::vector<std::string> steps = {}, dropped_steps = {};

  std::int64_t gpu_busy_ns = 0, gpu_idle_ns = 0;
  std::vector<std::pair<std::string, std::int64_t>> path = {};  // what bounds it, the longest first
  std::int64_t saving_all_ns = 0;                               // of all findings together

  std::string verdict = {};  // the run in a sentence
  std::vector<QualityNote> quality = {};
  std::vector<Finding> findings = {};  // in the order in which they are best mended
  std::size_t below_minimum = 0;  // findings that save less than was asked for; not in the list
  std::vector<std::string> tables = {};  // that the evidence is from
};

struct DiagnoseOptions {
  int threads = 0;               // 0: one per core. The result never depends on it.
  GpuChoice gpu = {};            // whose peaks count; by default those of the trace's
  std::string steps = "steady";  // "steady", "all", or the numbers of steps: "3-5"
  double min_saving_percent = 1;
  std::vector<std::string> only = {}, skip = {};  // ids of rules; * stands for anything
  std::string rules_file = {};  // JSON: numbers of rules by "id.key", see docs/guide/diagnose.md
  std::optional<double> link_gbps = {}, host_gbps = {};  // peaks that no trace tells
  bool corrects_overhead = true;
  const ModelSet* models = nullptr;  // one's own, asked first; not owned
  // A run of the same program that shows what is possible: the rules CMP-* tell what is slower than
  // there. Not owned.
  const Trace* against = nullptr;
};

// Throws what diagnose() would throw about the options alone.
void check_options(const DiagnoseOptions& options);

// Throws Error when the options are wrong. Any trace will do; one without GPU work has no findings.
[[nodiscard]] Diagnosis diagnose(const Trace& trace, const DiagnoseOptions& options = {});

// A job of several ranks: one that waits as long as most do is diagnosed, and what the others tell
// about it, who is late and what slows that rank down, joins in. Throws Error when no file can be
// read. In src/report.
[[nodiscard]] Diagnosis diagnose_ranks(const std::vector<RankFile>& files,
                                       const DiagnoseOptions& options = {});

// The rules: id, title, family, and every number that rules_file may set.
[[nodiscard]] Table rule_list();

struct DiagnosisStyle {
  std::size_t width = 100;
  std::size_t top = 10;  // findings shown
};
[[nodiscard]] std::string diagnosis_text(const Diagnosis& diagnosis, const DiagnosisStyle& style);

// findings, finding_evidence, finding_places and trace_quality.
[[nodiscard]] std::vector<Table> diagnosis_tables(const Diagnosis& diagnosis);
// Throws Error when a diagnosis cannot be written there, as far as the name tells.
void check_diagnosis_output(const std::string& output);
// The kind of document follows the name. Throws Error.
void write_diagnosis(const Diagnosis& diagnosis, const std::string& output);

// Gates, as of compare.hpp: "saving > 10%", "finding:SYNC-* > 2ms". Throws Error when one is not
// understood.
[[nodiscard]] std::vector<GateOutcome> check_gates(const Diagnosis& diagnosis,
                                                   std::span<const std::string> gates);
void check_gate_texts(std::span<const std::string> gates);  // throws alone

}  // namespace tracelens
