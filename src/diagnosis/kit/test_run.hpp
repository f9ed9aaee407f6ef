// test_run.hpp: a small trace with all that a rule asks about it, for the tests of the rules.
//   TestTrace t;
//   ...
//   TestRun run{t.finish()};
//   const std::optional<Draft> draft = run.find(kData1);
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <utility>

#include "diagnosis/kit/rule.hpp"
#include "tree/test_trace.hpp"

namespace tracelens {

class TestRun {
 public:
  explicit TestRun(Trace trace, DiagnoseOptions options = {.gpu = {.name = "H200"}})
      : trace_{std::move(trace)},
        options_{std::move(options)},
        context_{trace_, options_, settings_} {}
  TestRun(const TestRun&) = delete;
  TestRun& operator=(const TestRun&) = delete;

  [[nodiscard]] std::optional<Draft> find(const Rule& rule) {
    return rule.find(context_, Numbers{rule.id, rule.numbers, settings_});
  }
  [[nodiscard]] double saving_percent(const Draft& draft) {
    return context_.share(context_.saving_ns(draft.edit));
  }
  [[nodiscard]] DiagnosisContext& context() { return context_; }

 private:
  Trace trace_;
  DiagnoseOptions options_;
  RuleSettings settings_;
  DiagnosisContext context_;
};

// A step of so many kernels: each launched by an op of 10 us, one after the other, that runs `gpu_us`.
// Gives the time at which the last op ends.
inline double add_ops(TestTrace& t, double start, int ops, double gpu_us,
                      std::string_view name = "aten::mul", std::string_view kernel = "mul_kernel") {
  double host = start, gpu = start + 8;
  for (int i = 0; i < ops; ++i) {
    t.op(name, host, 10);
    gpu = std::max(gpu, host + 8);
    t.launch("cudaLaunchKernel", host + 2, 4, {.name = kernel, .ts = gpu, .dur = gpu_us});
    gpu += gpu_us;
    host += 10;
  }
  return host;
}
inline void add_step(TestTrace& t, int number, double start, double end) {
  t.event(Category::kUserAnnotation, "ProfilerStep#" + std::to_string(number), start, end - start);
}

}  // namespace tracelens
