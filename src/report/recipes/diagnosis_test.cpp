#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <sstream>
#include <tracelens/diagnose.hpp>
#include <tracelens/error.hpp>
#include <tracelens/json.hpp>

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
  EXPECT_THAT(text, HasSubstr("saves 30.0 ms  30.0%   confidence high\n"));
  EXPECT_THAT(text, HasSubstr("step_phases mean dataloader_ms  31.2 ms"));
  EXPECT_THAT(text, HasSubstr("try       num_workers > 0"));
  EXPECT_THAT(text, HasSubstr("All together 30.0 ms (30.0%): 100.0 ms -> 70.0 ms."));
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
  EXPECT_THROW((void)passes("total_time > 5%"), Error);
  EXPECT_THROW((void)passes("saving 5%"), Error);
}

}  // namespace
}  // namespace tracelens
