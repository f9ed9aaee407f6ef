#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <map>
#include <optional>
#include <sstream>
#include <tracelens/diagnose.hpp>
#include <tracelens/error.hpp>
#include <tracelens/json.hpp>
#include <tracelens/read_trace.hpp>
#include <tracelens/tables.hpp>

#include "report/page/findings_json.hpp"
#include "report/recipes/diagnosis_documents.hpp"
#include "table/utf8.hpp"

namespace tracelens {
namespace {

using ::testing::HasSubstr;

Diagnosis sample() {
  Diagnosis diagnosis{.files = {"runs/rank0.json.gz"},
                      .format = "kineto",
                      .gpu = "NVIDIA H200",
                      .devices = 1,
                      .length_ns = 120'000'000,
                      .corrected_ns = 100'000'000,
                      .steps = {"ProfilerStep#3", "ProfilerStep#4"},
                      .gpu_busy_ns = 40'000'000,
                      .gpu_idle_ns = 60'000'000,
                      .path = {{"host_op", 80'000'000}, {"gpu_compute", 20'000'000}},
                      .saving_all_ns = 30'000'000,
                      .verdict = "Waiting for data costs 30.0% (DATA-1)."};
  diagnosis.quality = {{"TQ-1", "only 2 steps"}};
  diagnosis.findings = {
      {.id = "DATA-1",
       .title = "Waiting for data",
       .severity = Severity::kCritical,
       .verdict = "For 31.2 ms the run waits.",
       .saving_ns = 30'000'000,
       .saving_percent = 30,
       .alone = {20'000'000, 30'000'000, 40'000'000},
       .confidence = Confidence::kHigh,
       .formula = "loading -> 0",
       .where =
           {{.kind = "range", .name = std::string(200, 'x'), .time_ns = 1'000'000, .count = 3}},
       .evidence = {{.table = "step_phases",
                     .key = {{"step", "mean"}},
                     .column = "dataloader_ms",
                     .value = 31.2,
                     .unit = "ms"}},
       .tries = {"num_workers > 0"},
       .verify = {
           .table = "step_phases", .column = "dataloader_ms", .now = 31.2, .expected = "< 1"}}};
  return diagnosis;
}

TEST(DiagnosisText, IsNeverWiderThanAskedFor) {
  for (const std::size_t width : {60U, 100U}) {
    std::istringstream lines{diagnosis_text(sample(), {.width = width})};
    for (std::string line; std::getline(lines, line);)
      EXPECT_LE(display_width(line), width) << line;
  }
}

TEST(DiagnosisText, TellsTheFindingItsProofAndWhatToTry) {
  const std::string text = diagnosis_text(sample(), {});
  EXPECT_THAT(text, HasSubstr("rank0.json.gz   1 GPU: NVIDIA H200   window 120.0 ms recorded"));
  EXPECT_THAT(text, HasSubstr(" 1  DATA-1   Waiting for data"));
  EXPECT_THAT(text, HasSubstr("saves 30.0 ms (15.0 ms a step)  30.0%   confidence high\n"));
  EXPECT_THAT(text, HasSubstr("step_phases step=mean dataloader_ms  31.2 ms"));
  EXPECT_THAT(text, HasSubstr("try       num_workers > 0"));
  EXPECT_THAT(text,
              HasSubstr("All together 30.0 ms (30.0%): 100.0 ms -> 70.0 ms. A step: 50.0 ms ->"
                        " 35.0 ms."));
}

TEST(DiagnosisText, ANumberThatNoTableHasIsToldToBeDerived) {
  Diagnosis diagnosis = sample();
  Finding& finding = diagnosis.findings.front();
  finding.evidence.front().is_derived = true;
  finding.verify.is_derived = true;
  finding.where.front().count = 1;
  const std::string text = diagnosis_text(diagnosis, {});
  EXPECT_THAT(text, HasSubstr("derived from step_phases: step=mean dataloader_ms  31.2 ms"));
  EXPECT_THAT(text, HasSubstr("verify    dataloader_ms (derived from step_phases) 31.2 -> < 1"));
  EXPECT_THAT(text, HasSubstr(", 1 time\n"));
  finding.evidence.front().table.clear();
  finding.evidence.front().column = "compute units of the GPU";
  EXPECT_THAT(diagnosis_text(diagnosis, {}), HasSubstr("      compute units of the GPU  31.2 ms"));
}

TEST(DiagnosisText, NamesOfProofsAreWholeAndTheirValuesBelowEachOther) {
  Diagnosis diagnosis = sample();
  std::vector<Evidence>& evidence = diagnosis.findings.front().evidence;
  const std::string op = "autograd::engine::evaluate_function: CudnnBatchNormBackward0";
  evidence = {
      {.table = "memory_peak", .key = {{"op", op}}, .column = "bytes", .value = 1, .unit = "MB"},
      {.table = "memory_peak", .key = {{"op", op}}, .column = "share", .value = 50, .unit = "%"},
      {.table = "roofline", .key = {}, .column = "time", .value = 1, .unit = "ms"}};
  const std::string text = diagnosis_text(diagnosis, {.width = 100});
  EXPECT_THAT(text, HasSubstr("memory_peak op=" + op + " bytes  1 MB\n"));
  EXPECT_THAT(text, HasSubstr("memory_peak op=" + op + " share  50.0%\n"));
  EXPECT_THAT(text, HasSubstr("roofline time" + std::string(68, ' ') + "  1 ms\n"));
  EXPECT_THAT(diagnosis_text(diagnosis, {.width = 60}), HasSubstr("CudnnBatchNormBackward0"));
}

// What a finding refers to can be looked up in the report of the same trace.
TEST(DiagnosisEvidence, IsInTheTablesOrToldToBeDerived) {
  const Table list = table_list();
  const auto names = list.column("table").texts();
  const auto known = [&](const std::string& name) {
    return std::ranges::find(names, name) != names.end();
  };
  std::size_t checked = 0;
  for (const auto& entry : std::filesystem::directory_iterator{"tests/data/diagnosis"}) {
    const std::string file = entry.path().string();
    if (!file.ends_with(".json.gz")) continue;
    const Trace trace = read_trace(file);
    const Diagnosis diagnosis = diagnose(trace, {.min_saving_percent = 0});
    std::map<std::string, std::optional<Table>> tables;
    const auto check = [&](const std::string& id, const auto& reference) {
      if (reference.is_derived) {
        EXPECT_TRUE(reference.table.empty() || known(reference.table)) << id << reference.table;
        return;
      }
      const auto [at, is_new] = tables.try_emplace(reference.table);
      if (is_new) at->second = make_table(trace, reference.table, {.overview = false});
      ASSERT_TRUE(at->second) << file << " " << id << ": no table " << reference.table;
      ASSERT_TRUE(at->second->has_column(reference.column))
          << file << " " << id << ": " << reference.table << " has no " << reference.column;
      if constexpr (requires { reference.unit; }) {
        EXPECT_EQ(reference.unit, at->second->column(reference.column).spec().unit)
            << file << " " << id << ": " << reference.table << " " << reference.column;
      }
      for (const auto& [column, value] : reference.key)
        EXPECT_TRUE(at->second->has_column(column))
            << file << " " << id << ": " << reference.table << " has no key " << column;
      ++checked;
    };
    for (const Finding& finding : diagnosis.findings) {
      for (const Evidence& row : finding.evidence) check(finding.id, row);
      if (!finding.verify.column.empty()) check(finding.id, finding.verify);
    }
  }
  EXPECT_GT(checked, 25U);
}

TEST(DiagnosisOutput, KindsThatCannotBeWrittenAreRefusedByName) {
  EXPECT_NO_THROW(check_diagnosis_output("d.txt"));
  EXPECT_NO_THROW(check_diagnosis_output("d.JSON"));
  EXPECT_THROW(check_diagnosis_output("d.csv"), Error);
  EXPECT_THROW(check_diagnosis_output("d.foo"), Error);
}

TEST(DiagnosisText, ANameCannotCommandTheTerminal) {
  Diagnosis diagnosis = sample();
  diagnosis.findings.front().where.front().name = "\x1b[31m\nred";
  EXPECT_EQ(diagnosis_text(diagnosis, {}).find('\x1b'), std::string::npos);
}

TEST(DiagnosisJson, HasAllKeys) {
  const auto json = parse_json_value(diagnosis_json(sample()));
  ASSERT_TRUE(json);
  const Value& finding = json->find("findings")->items().front();
  for (const char* key : {"id", "title", "severity", "verdict", "saving_ms", "saving_pct",
                          "saving_alone_ms", "gpu_saving_ms", "impact_score", "confidence",
                          "one_off", "locked_by", "formula", "where", "evidence", "try", "verify"})
    EXPECT_NE(finding.find(key), nullptr) << key;
  EXPECT_TRUE(finding.find("impact_score")->is_null());
  EXPECT_EQ(finding.find("saving_alone_ms")->find("mid")->as_real(), 30);
  EXPECT_EQ(json->find("window")->find("length_corrected_ms")->as_real(), 100);
  EXPECT_EQ(json->find("tracelens")->find("schema")->as_int(), 1);
}

TEST(DiagnosisJson, TheCommandShowsTheNumber) {
  Finding finding = sample().findings.front();
  EXPECT_EQ(verify_command(finding),
            "tracelens query NEW \"SELECT dataloader_ms FROM step_phases\"");
  finding.verify.key = {{"step", "mean"}};
  EXPECT_EQ(verify_command(finding),
            "tracelens query NEW \"SELECT dataloader_ms FROM step_phases WHERE step = 'mean'\"");
  finding.verify.column = "GPU busy ms";
  EXPECT_EQ(verify_command(finding),
            "tracelens query NEW \"SELECT [GPU busy ms] FROM step_phases WHERE step = 'mean'\"");
  finding.verify.is_derived = true;
  EXPECT_EQ(verify_command(finding), "tracelens diagnose NEW --only DATA-1");
  finding.id = "CMP-1";
  EXPECT_EQ(verify_command(finding), "tracelens diagnose NEW --against OTHER --only CMP-1");
  finding.id = "COMM-2";
  finding.verify = {.table = "nccl_implicit_sync", .column = "avg_wait_time"};
  EXPECT_EQ(verify_command(finding), "tracelens collectives NEW -o out/");
}

TEST(DiagnosisPages, HaveTheSameParts) {
  EXPECT_THAT(diagnosis_markdown(sample()), HasSubstr("### 1. DATA-1 — Waiting for data"));
  EXPECT_THAT(diagnosis_html(sample()), HasSubstr("1. DATA-1 — Waiting for data</h2>"));
  EXPECT_THAT(diagnosis_html(sample()), HasSubstr("num_workers &gt; 0"));
}

TEST(DiagnosisGates, ComeInTheGrammarOfComparisons) {
  const Diagnosis diagnosis = sample();
  const auto passes = [&](const std::string& gate) {
    return check_gates(diagnosis, {&gate, 1}).front().passed;
  };
  EXPECT_FALSE(passes("saving > 10%"));
  EXPECT_TRUE(passes("saving > 30%"));
  EXPECT_FALSE(passes("saving > 29ms"));
  EXPECT_TRUE(passes("saving > 1% min 40ms"));
  EXPECT_FALSE(passes("finding:DATA-* > 5%"));
  EXPECT_TRUE(passes("finding:SYNC-* > 0%"));
}

// A gate that comparisons understand would be refused as well.
TEST(DiagnosisGates, OnesThatAreNotUnderstoodAreToldOfThoseThatAre) {
  for (const std::string gate : {"total_time > 5%", "saving 5%", "foo", "saving > x", "> 5%"}) {
    try {
      check_gate_texts({&gate, 1});
      ADD_FAILURE() << gate;
    } catch (const Error& error) {
      EXPECT_THAT(error.what(), HasSubstr("expected 'saving > 10%' about all findings")) << gate;
      EXPECT_THAT(error.what(), Not(HasSubstr("op:"))) << gate;
    }
  }
}

}  // namespace
}  // namespace tracelens
