// test_run.hpp: a small trace with all that a rule asks about it, for the tests of the rules.
//   TestTrace t;
//   ...
//   TestRun run{t.finish()};
//   const std::optional<Draft> draft = run.find(kData1);
#pragma once

#include <initializer_list>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

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
// An op with its arguments and the one kernel it launches; `parents` are ops around it.
struct TestOp {
  std::string_view name;
  std::vector<Value> dims = {};
  std::vector<Value> types = {};
  std::string_view kernel = "kernel";
  double us = 100;
  std::vector<std::string_view> parents = {};
  std::vector<Value> concrete = {};  // of the arguments; none: no values recorded
};
inline Signature arguments_of(const TestOp& op) {
  Signature call;
  std::vector<Value> strides, concrete;
  for (const Value& shape : op.dims) {
    std::vector<Value> steps;
    double step = 1;
    for (auto size = shape.items().rbegin(); size != shape.items().rend(); ++size) {
      steps.insert(steps.begin(), Value{static_cast<std::int64_t>(step)});
      step *= size->as_real();
    }
    strides.push_back(Value::tuple(std::move(steps)));
    concrete.emplace_back("");
  }
  call.dims = Value::tuple(op.dims);
  call.types = Value::tuple(op.types);
  call.strides = Value::tuple(std::move(strides));
  call.concrete = Value::tuple(op.concrete.empty() ? std::move(concrete) : op.concrete);
  return call;
}
// A step in which these ops run one after the other, so many times, and the GPU is always busy; it has
// 132 compute units.
// `module`: the nn.Module around each turn; empty: none. `lines`: Python frames around that, in turn.
inline Trace run_of(const std::vector<TestOp>& ops, int turns = 10, std::string_view module = {},
                    const std::vector<std::string_view>& lines = {}) {
  TestTrace t;
  t.builder().add_metadata("deviceProperties",
                           Value::list({Value::dict({"id", "numSms"}, {0, 132})}));
  double host = 10, gpu = 100;
  for (int turn = 0; turn < turns; ++turn) {
    if (!lines.empty())
      t.python(lines[static_cast<std::size_t>(turn) % lines.size()], host - 1.1,
               2.1 + 10 * static_cast<double>(ops.size()));
    if (!module.empty()) t.python(module, host - 1, 2 + 10 * static_cast<double>(ops.size()));
    for (const TestOp& op : ops) {
      const auto depth = static_cast<double>(op.parents.size());
      for (double i = 0; i < depth; ++i)
        t.op(op.parents[static_cast<std::size_t>(i)], host + 0.1 * i, 9 - 0.2 * i,
             arguments_of(op));
      t.op(op.name, host + 0.1 * depth, 9 - 0.2 * depth, arguments_of(op));
      t.launch("cudaLaunchKernel", host + 2, 4, {.name = op.kernel, .ts = gpu, .dur = op.us});
      gpu += op.us;
      host += 10;
    }
    host += lines.empty() ? 2 : 4;
  }
  t.event(Category::kUserAnnotation, "ProfilerStep#1", 0, gpu + 10);
  return t.finish();
}
inline Value shape(std::initializer_list<int> sizes) {
  std::vector<Value> all;
  for (const int size : sizes) all.emplace_back(size);
  return Value::tuple(std::move(all));
}

inline void add_step(TestTrace& t, int number, double start, double end) {
  t.event(Category::kUserAnnotation, "ProfilerStep#" + std::to_string(number), start, end - start);
}

}  // namespace tracelens
