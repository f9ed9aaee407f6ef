#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <tracelens/error.hpp>
#include <tracelens/json.hpp>
#include <tracelens/replay.hpp>
#include <tuple>

#include "tree/test_trace.hpp"

namespace tracelens {
namespace {

Value list(std::string_view json) { return *parse_json_value(json); }

Signature mm_arguments() {
  return {.name = {},
          .dims = list("[[4, 8], [8, 16]]"),
          .types = list(R"(["c10::BFloat16", "c10::BFloat16"])"),
          .strides = list("[[8, 1], [1, 8]]"),
          .concrete = list(R"(["", ""])")};
}

Signature one_tensor(std::string_view concrete) {
  return {.name = {},
          .dims = list("[[4, 8], []]"),
          .types = list(R"(["float", "Scalar"])"),
          .strides = list("[[8, 1], []]"),
          .concrete = list(concrete)};
}

// Two calls of aten::mm (30 us and 50 us), and a view without GPU work.
Trace two_products() {
  TestTrace t;
  t.op("aten::mm", 0, 10, mm_arguments());
  t.launch("cudaLaunchKernel", 2, 1, {.name = "gemm<'float'>", .ts = 5, .dur = 30});
  t.op("aten::mm", 20, 10, mm_arguments());
  t.launch("cudaLaunchKernel", 22, 1, {.name = "gemm<'float'>", .ts = 40, .dur = 50});
  t.op("aten::view", 40, 2, one_tensor(R"(["", "1"])"));
  return t.finish();
}

// The JSON inside a script.
Value data_of(const std::string& script) {
  const std::size_t begin = script.find("json.loads(r'''") + 15;
  const std::size_t end = script.find("''')", begin);
  const auto value = parse_json_value(std::string_view{script}.substr(begin, end - begin));
  EXPECT_TRUE(value);
  return value.value_or(Value{});
}

TEST(Replay, GathersCallsWithEqualArguments) {
  const Replay replay = choose_replay(two_products(), {.top = 20});
  ASSERT_EQ(replay.records.size(), 1u);
  EXPECT_EQ(replay.records[0].call.op, "aten::mm");
  EXPECT_EQ(replay.records[0].count, 2u);
  EXPECT_EQ(replay.records[0].kernel_ns, 80'000);
  EXPECT_EQ(replay.records[0].kernels, std::vector<std::string>{"gemm<'float'>"});
}

TEST(Replay, AllUniqueHasOpsWithoutGpuWork) {
  const Replay replay = choose_replay(two_products(), {.all_unique = true});
  ASSERT_EQ(replay.records.size(), 2u);
  EXPECT_EQ(replay.records[1].call.op, "aten::view");
  EXPECT_TRUE(replay.records[1].kernels.empty());
}

TEST(Replay, ChoosesByNameAndByNumber) {
  const Trace trace = two_products();
  EXPECT_EQ(choose_replay(trace, {.names = {"aten::view"}}).records.size(), 1u);
  // A kernel stands for the op that launched it.
  EventId kernel;
  for (const EventId event : trace.all_events())
    if (trace.category(event) == Category::kKernel) kernel = event;
  const Replay by_kernel = choose_replay(trace, {.uids = {kernel.row}});
  ASSERT_EQ(by_kernel.records.size(), 1u);
  EXPECT_EQ(by_kernel.records[0].call.op, "aten::mm");
  EXPECT_EQ(by_kernel.records[0].count, 1u);
  EXPECT_THROW((void)choose_replay(trace, {.uids = {9999}}), Error);
  EXPECT_THROW((void)choose_replay(trace, {.names = {"aten::none"}}), Error);
}

TEST(Replay, ScriptHoldsTheRecordsAsJson) {
  const Replay replay = choose_replay(two_products(), {.top = 20});
  const std::string script = replay_script(replay, {.date = "2026-01-02"});
  EXPECT_NE(script.find("on 2026-01-02"), std::string::npos);
  const Value data = data_of(script);
  const Value& record = data.find("records")->items().at(0);
  EXPECT_EQ(record.find("op")->as_text(), "aten::mm");
  EXPECT_EQ(record.find("count")->as_int(), 2);
  EXPECT_EQ(json_text(*record.find("Input Strides")), "[[8, 1], [1, 8]]");
  const Value& figures = *record.find("trace");
  EXPECT_DOUBLE_EQ(figures.find("kernel_time_us_mean")->as_real(), 40);
  // Its quotes cannot end the literal it stands in.
  EXPECT_EQ(figures.find("kernels")->items().at(0).as_text(), "gemm<'float'>");
  EXPECT_EQ(script.find("gemm<'"), std::string::npos);
}

TEST(Replay, ScriptsAreOneFile) {
  for (const bool is_jax : {false, true}) {
    Replay replay;
    replay.is_jax = is_jax;
    const std::string script = replay_script(replay);
    EXPECT_EQ(script.find("from common"), std::string::npos);
    EXPECT_NE(script.find("class Worker"), std::string::npos);
  }
}

TEST(Replay, RecordsMayLieBesideTheScript) {
  const Replay replay = choose_replay(two_products(), {.top = 20});
  const std::string script = replay_script(replay, {.data_file = "it's.json"});
  EXPECT_NE(script.find(R"(json.load(open(beside("it's.json"))"), std::string::npos);
  EXPECT_EQ(script.find("aten::mm"), replay_script(Replay{}).find("aten::mm"));
  EXPECT_NE(replay_data(replay).find("aten::mm"), std::string::npos);
}

TEST(Replay, KernelNamesStayBehindWhenAsked) {
  const Replay replay = choose_replay(two_products(), {.top = 20});
  const std::string script = replay_script(replay, {.kernel_names = false});
  EXPECT_EQ(script.find("gemm<"), std::string::npos);
  EXPECT_EQ(data_of(script).find("records")->items().at(0).find("trace")->find("kernels"), nullptr);
}

// A trace in which everything that is nobody's business has a mark, with every field that a record
// can have.
Trace secrets() {
  TestTrace t;
  t.python("SECRETfile.py(3): train", 0, 1000);
  t.python("nn.Module: SECRETModule_0", 1, 990);
  t.event(Category::kUserAnnotation, "SECRETstep", 1, 900);
  Signature named = mm_arguments();
  named.types = list(R"(["c10::BFloat16", ""])");
  named.concrete = list(R"(["", "SECRETmodel.layers.0"])");
  t.builder().set_sequence(t.op("engine::attention", 2, 10, named), 1);
  t.launch("cudaLaunchKernel", 3, 1, {.name = "SECRETkernel", .ts = 5, .dur = 30});
  t.op("aten::linear", 100, 50, one_tensor(R"(["", ""])"));
  t.op("aten::to", 101, 20, one_tensor(R"(["", "15"])"));
  t.op("aten::_to_copy", 102, 10, one_tensor(R"(["", "15"])"));
  t.op("aten::scaled_dot_product_attention", 200, 50, mm_arguments());
  t.op("aten::_scaled_dot_product_flash_attention", 201, 40, mm_arguments());
  t.launch("cudaLaunchKernel", 202, 1, {.name = "SECRETflash<float>", .ts = 205, .dur = 30});
  Signature lists = one_tensor(R"(["", "1"])");
  lists.types = list(R"(["TensorList", "Scalar"])");
  t.op("aten::_foreach_add_", 300, 10, lists);
  t.launch("cudaLaunchKernel", 301, 1, {.name = "SECRETadd<float>", .ts = 310, .dur = 3});
  t.op("aten::copy_", 400, 10, one_tensor(R"(["", "0"])"));
  t.launch("cudaMemcpyAsync", 401, 1,
           {.name = "Memcpy HtoD (SECRET Pinned -> Device)",
            .ts = 410,
            .dur = 2,
            .category = Category::kGpuMemcpy});
  const EventId compiled = t.op("triton_poi_fused_SECRET_0", 500, 10, one_tensor(R"(["", "64"])"));
  t.builder().set_details(
      compiled, t.builder().intern(R"({"kernel_file": "/home/SECRETuser/cache/ab/SECRET.py",
                                       "kernel_kwargs": "SECRET=1"})"));
  t.builder().set_call_stack(compiled, t.builder().intern("SECRETfile.py(7): forward"));
  t.launch("cudaLaunchKernel", 501, 1, {.name = "SECRETtriton", .ts = 510, .dur = 3});
  const int engine = 2;
  t.builder().set_sequence(
      t.op("autograd::engine::evaluate_function: AttentionBackward0", 600, 20, engine), 1);
  t.op("AttentionBackward0", 601, 15, named, engine);
  // Functions of the model's own, written in Python and in C++.
  t.builder().set_sequence(t.op("SECRETRouterFn", 700, 10, mm_arguments()), 2);
  t.launch("cudaLaunchKernel", 701, 1, {.name = "SECRETrouter", .ts = 705, .dur = 30});
  t.builder().set_sequence(
      t.op("autograd::engine::evaluate_function: SECRETRouterFnBackward", 800, 20, engine), 2);
  t.op("SECRETRouterFnBackward", 801, 15, named, engine);
  t.op("torch::autograd::CppNode<SECRETFunction>", 850, 15, named, engine);
  return t.finish();
}

TEST(Replay, NothingPrivateLeavesTheTrace) {
  const Trace trace = secrets();
  for (const ReplayChoice& choice :
       {ReplayChoice{.top = 50}, ReplayChoice{.all_unique = true}, ReplayChoice{.subtree = 3},
        ReplayChoice{.module = "SECRETModule_0"}, ReplayChoice{.names = {"AttentionBackward0"}}}) {
    const std::string script = replay_script(choose_replay(trace, choice), {.kernel_names = false});
    EXPECT_EQ(script.find("SECRET"), std::string::npos);
  }
  // Every field was there.
  const std::string data = replay_data(choose_replay(trace, {.all_unique = true}));
  for (const std::string_view key :
       {"list type", "copy", "autocast", "attention", "source", "forward", "launches", "kernels"})
    EXPECT_NE(data.find(fmt::format("\"{}\": ", key)), std::string::npos) << key;
  // Names of kernels, which are asked not to be; classes not even then.
  for (const std::string_view kernel : {"SECRETkernel", "triton_poi_fused_SECRET_0", "SECRET.py"})
    EXPECT_NE(data.find(kernel), std::string::npos) << kernel;
  for (const std::string_view code : {"SECRETRouterFn", "SECRETFunction"})
    EXPECT_EQ(data.find(code), std::string::npos) << code;
}

TEST(Replay, CodeOfTheModelIsCounted) {
  const Trace trace = secrets();
  const Replay replay =
      choose_replay(trace, {.names = {"SECRETRouterFn", "SECRETRouterFnBackward", "aten::linear",
                                      "triton_poi_fused_SECRET_0"}});
  const Value data = data_of(replay_script(replay, {.kernel_names = false}));
  const auto record = [&](std::string_view op) {
    for (std::size_t i = 0; i < replay.records.size(); ++i)
      if (replay.records[i].call.op == op) return data.find("records")->items().at(i);
    return Value{};
  };
  const Value forward = record("SECRETRouterFn"), backward = record("SECRETRouterFnBackward");
  EXPECT_EQ(record("aten::linear").find("op")->as_text(), "aten::linear");
  EXPECT_EQ(forward.find("op")->as_text(), "custom_1");
  EXPECT_EQ(backward.find("op")->as_text(), "custom_2");
  EXPECT_EQ(backward.find("forward")->find("op")->as_text(), "custom_1");
  // As the script's hashed() has it.
  const Value compiled = record("triton_poi_fused_SECRET_0");
  EXPECT_EQ(compiled.find("op")->as_text(), "triton_efdf7bfbbebe1dc6");
  EXPECT_EQ(compiled.find("source")->as_text(), "ce7d2cf824940f3a.py");
  // Its results are still those of this trace.
  for (const Value& each : data.find("records")->items()) {
    const Table verified = verify_replay(
        trace,
        fmt::format(R"({{"format": "tracelens replay results 1", "results": [{{"id": 0, "uid": {},
                        "op": "{}", "status": "skipped", "reason": "x"}}]}})",
                    each.find("uid")->as_int(), each.find("op")->as_text()),
        "results.json");
    EXPECT_EQ(verified.rows(), 1u);
  }
}

TEST(Replay, ScriptsArePrintableAscii) {
  Replay replay;
  replay.records.push_back(
      {.call = {.op = "x::y\n::error::\x1b[2J\x7f\xe2\x80\xae\xc2\x9b\xf0\x9f\x9a\x80\xff",
                .types = {},
                .dims = {},
                .strides = {},
                .concrete = {}},
       .count = 1,
       .kernels = {"k'\n\xe2\x80\xae##[error]"}});
  for (const bool is_jax : {false, true}) {
    replay.is_jax = is_jax;
    replay.records[0].hlo = is_jax ? "{}" : "";  // names of HLO ops are not changed
    const std::string script = replay_script(replay);
    EXPECT_TRUE(
        std::ranges::all_of(script, [](char c) { return c == '\n' || (c >= 32 && c < 127); }));
    const Value record = data_of(script).find("records")->items().at(0);
    EXPECT_EQ(record.find("op")->as_text(),
              is_jax ? "x::y\n::error::\x1b[2J\x7f\xe2\x80\xae\xc2\x9b\xf0\x9f\x9a\x80\xef\xbf\xbd"
                     : "custom_1");
  }
}

TEST(Replay, NumbersOfArgumentsStay) {
  Replay replay;
  ReplayRecord record;
  record.count = 1;
  record.call = {
      .op = "aten::full",
      .types = list(R"(["ScalarList", "Scalar", "Scalar", "", "Scalar", "ScalarList"])"),
      .dims = list("[[], [], [], [], [], []]"),
      .strides = {},
      .concrete = list(R"x(["[2, -3]", "-1.5e-05", "(0.,1.)", "", "True", "[inf, nan]"])x")};
  replay.records.push_back(std::move(record));
  EXPECT_NE(
      replay_data(replay).find(
          R"x("Concrete Inputs": ["[2, -3]", "-1.5e-05", "(0.,1.)", "", "True", "[inf, nan]"])x"),
      std::string::npos);
}

TEST(Replay, SequenceKeepsTheOrderOfCalls) {
  TestTrace t;
  const EventId top = t.op("step", 0, 100);
  t.op("aten::mm", 1, 10, mm_arguments());
  t.launch("cudaLaunchKernel", 2, 1, {.name = "a", .ts = 5, .dur = 1});
  t.op("aten::relu", 20, 10, one_tensor(R"(["", ""])"));
  t.launch("cudaLaunchKernel", 22, 1, {.name = "b", .ts = 40, .dur = 50});
  t.op("aten::mm", 40, 10, mm_arguments());
  t.launch("cudaLaunchKernel", 42, 1, {.name = "a", .ts = 95, .dur = 1});
  const Replay replay = choose_replay(t.finish(), {.subtree = top.row});
  ASSERT_EQ(replay.sequences.size(), 1u);
  EXPECT_EQ(replay.records[0].call.op, "aten::relu");  // the costliest first
  EXPECT_EQ(replay.sequences[0].records, (std::vector<std::size_t>{1, 0, 1}));
  EXPECT_EQ(replay.sequences[0].kernel_ns, 52'000);
}

TEST(Replay, SeesAutocastListTypesAndCopies) {
  TestTrace t;
  t.op("aten::linear", 0, 50, one_tensor(R"(["", ""])"));
  t.op("aten::to", 1, 20, one_tensor(R"(["", "15"])"));
  t.op("aten::_to_copy", 2, 10, one_tensor(R"(["", "15"])"));
  t.launch("cudaLaunchKernel", 3, 1, {.name = "cast", .ts = 5, .dur = 1});
  t.op("aten::copy_", 60, 10, one_tensor(R"(["", "0"])"));
  t.launch("cudaMemcpyAsync", 61, 1,
           {.name = "Memcpy HtoD (Pinned -> Device)",
            .ts = 70,
            .dur = 2,
            .category = Category::kGpuMemcpy});
  Signature lists = one_tensor(R"(["", "1"])");
  lists.types = list(R"(["TensorList", "Scalar"])");
  t.op("aten::_foreach_add_", 80, 10, lists);
  t.launch("cudaLaunchKernel", 81, 1, {.name = "multi_tensor<float>", .ts = 90, .dur = 3});
  const Replay replay = choose_replay(t.finish(), {.all_unique = true});
  const auto named = [&](std::string_view op) {
    return *std::ranges::find(replay.records, op,
                              [](const ReplayRecord& record) { return record.call.op; });
  };
  EXPECT_EQ(named("aten::linear").autocast, "c10::BFloat16");
  EXPECT_EQ(named("aten::to").autocast, "");
  EXPECT_EQ(named("aten::copy_").copy, "HtoD pinned");
  EXPECT_EQ(named("aten::_foreach_add_").list_type, "float");
}

TEST(Replay, EqualArgumentsOfOtherWorkAreAnotherRecord) {
  TestTrace t;
  const auto copy = [&](double ts, double dur, std::string_view what) {
    const EventId op = t.op("aten::copy_", ts, 10, one_tensor(R"(["", "0"])"));
    t.launch("cudaMemcpyAsync", ts + 1, 1,
             {.name = what, .ts = ts + 2, .dur = dur, .category = Category::kGpuMemcpy});
    return op;
  };
  copy(0, 40, "Memcpy HtoD (Pageable -> Device)");
  const EventId back = copy(100, 90, "Memcpy DtoH (Device -> Pageable)");
  copy(200, 42, "Memcpy HtoD (Pageable -> Device)");
  const Trace trace = t.finish();
  const Replay replay = choose_replay(trace, {.top = 5});
  ASSERT_EQ(replay.records.size(), 2u);
  EXPECT_EQ(replay.records[0].copy, "DtoH");
  EXPECT_EQ(replay.records[0].kernel_ns, 90'000);
  EXPECT_EQ(replay.records[0].launches, 1u);
  EXPECT_EQ(replay.records[1].copy, "HtoD");
  EXPECT_EQ(replay.records[1].count, 2u);
  // Results are compared with the record of their own call.
  const Table verified = verify_replay(
      trace,
      fmt::format(R"({{"format": "tracelens replay results 1", "results": [{{"id": 0, "uid": {},
                      "op": "aten::copy_", "status": "ok", "median_us": 90}}]}})",
                  back.row),
      "results.json");
  EXPECT_EQ(verified.column("recorded").reals()[0], 90);
  EXPECT_EQ(verified.column("verdict").texts()[0], "reproduced");
}

TEST(Replay, BackwardsOfOtherForwardsAreOtherRecords) {
  TestTrace t;
  Signature wide = mm_arguments();
  wide.dims = list("[[4, 8], [8, 32]]");
  double ts = 0;
  std::int64_t number = 1;
  for (const Signature& forward : {mm_arguments(), wide}) {
    t.builder().set_sequence(t.op("aten::mm", ts, 5, forward), number);
    const int engine = 2;  // its thread
    t.builder().set_sequence(
        t.op("autograd::engine::evaluate_function: MmBackward0", ts + 10, 20, engine), number);
    t.op("MmBackward0", ts + 11, 15, one_tensor(R"(["", ""])"), engine);
    for (const double at : {ts + 12, ts + 16}) {
      t.op("aten::mm", at, 3, mm_arguments(), engine);
      t.op("aten::empty", at + 0.5, 1, mm_arguments(), engine);
    }
    t.op("SECRETop", ts + 20, 1, mm_arguments(), engine);
    t.launch("cudaLaunchKernel", ts + 22, 1, {.name = "gemm", .ts = ts + 25, .dur = 8}, engine);
    ts += 100, ++number;
  }
  const Replay replay = choose_replay(t.finish(), {.names = {"MmBackward0"}});
  ASSERT_EQ(replay.records.size(), 2u);
  ASSERT_TRUE(replay.records[0].forward && replay.records[1].forward);
  EXPECT_NE(json_text(replay.records[0].forward->dims), json_text(replay.records[1].forward->dims));
  EXPECT_NE(replay_data(replay).find(R"("below": {"aten::mm": 2}, )"), std::string::npos);
}

TEST(Replay, CopiesToTheHostMayBeToFreshMemory) {
  const auto copy_below = [](std::string_view caller) {
    TestTrace t;
    t.op(caller, 0, 20, one_tensor(R"(["", "6"])"));
    t.op("aten::copy_", 1, 10, one_tensor(R"(["", "0"])"));
    t.launch("cudaMemcpyAsync", 2, 1,
             {.name = "Memcpy DtoH (Device -> Pageable)",
              .ts = 4,
              .dur = 2,
              .category = Category::kGpuMemcpy});
    return choose_replay(t.finish(), {.names = {"aten::copy_"}}).records[0].copy;
  };
  EXPECT_EQ(copy_below("aten::_to_copy"), "DtoH fresh");
  EXPECT_EQ(copy_below("aten::stack"), "DtoH");
}

TEST(Replay, AttentionKeepsItsBackend) {
  TestTrace t;
  t.op("aten::scaled_dot_product_attention", 0, 50, mm_arguments());
  t.op("aten::_scaled_dot_product_flash_attention", 1, 40, mm_arguments());
  t.launch("cudaLaunchKernel", 2, 1, {.name = "flash_fwd", .ts = 5, .dur = 30});
  t.op("aten::scaled_dot_product_attention", 100, 50, mm_arguments());
  t.op("aten::_scaled_dot_product_attention_math", 101, 40, mm_arguments());
  t.launch("cudaLaunchKernel", 102, 1, {.name = "gemm", .ts = 105, .dur = 300});
  const Replay replay =
      choose_replay(t.finish(), {.names = {"aten::scaled_dot_product_attention"}});
  ASSERT_EQ(replay.records.size(), 2u);
  EXPECT_EQ(replay.records[0].attention, "math");
  EXPECT_EQ(replay.records[1].attention, "flash");
  const Value first = data_of(replay_script(replay)).find("records")->items().at(0);
  EXPECT_EQ(first.find("attention")->as_text(), "math");
}

std::string error_of(const Trace& trace, const ReplayChoice& choice) {
  try {
    (void)choose_replay(trace, choice);
  } catch (const Error& error) {
    return error.what();
  }
  return "";
}

TEST(Replay, SuggestsNames) {
  const Trace trace = two_products();
  EXPECT_NE(error_of(trace, {.names = {"aten::nm"}}).find("did you mean 'aten::mm'?"),
            std::string::npos);
  EXPECT_NE(error_of(trace, {.names = {"veiw", "nn"}}).find("did you mean 'aten::view'?"),
            std::string::npos);
  EXPECT_EQ(error_of(trace, {.names = {"aten::convolution"}}).find("mean"), std::string::npos);
  EXPECT_EQ(choose_replay(trace, {.names = {"aten::mm", "aten::bmm"}}).records.size(), 1u);
  EXPECT_NE(error_of(trace, {.module = "Block_0"}).find("with_stack=True"), std::string::npos);
  TestTrace t;
  t.python("nn.Module: Block_0", 0, 100);
  t.op("aten::mm", 1, 10, mm_arguments());
  EXPECT_NE(error_of(t.finish(), {.module = "Blok_0"}).find("did you mean 'Block_0'?"),
            std::string::npos);
}

TEST(Replay, SaysWhyAChoiceIsEmpty) {
  const Trace trace = two_products();
  const auto has = [](const std::string& text, std::string_view words) {
    return text.find(words) != text.npos;
  };
  const std::string other = error_of(trace, {.names = {"aten::view"}, .uids = {0}});
  EXPECT_TRUE(has(other, "event 0 belongs to aten::mm, not to aten::view")) << other;
  EXPECT_FALSE(has(other, "record_shapes"));
  EXPECT_EQ(choose_replay(trace, {.names = {"aten::mm"}, .uids = {0}}).records.size(), 1u);
  TestTrace t;
  const EventId bare = t.op("aten::sort", 0, 10);
  t.op("aten::mm", 20, 10, mm_arguments());
  const std::string without = error_of(t.finish(), {.uids = {bare.row}});
  EXPECT_TRUE(has(without, "aten::sort, whose arguments the trace does not record")) << without;
}

TEST(Replay, WarnsOfEachNameThatNoCallHas) {
  const Replay replay = choose_replay(two_products(), {.names = {"aten::nm", "aten::mm", "none"}});
  EXPECT_EQ(replay.records.size(), 1u);
  ASSERT_EQ(replay.warnings.size(), 2u);
  EXPECT_NE(replay.warnings[0].find("'aten::nm'"), std::string::npos);
  EXPECT_NE(replay.warnings[0].find("did you mean 'aten::mm'?"), std::string::npos);
  EXPECT_NE(replay.warnings[1].find("'none'"), std::string::npos);
}

TEST(Replay, SaysThatGraphsNeedTheirCapture) {
  TestTrace t;
  const auto [call, kernel] =
      t.launch("cudaGraphLaunch", 0, 5, {.name = "gemm", .ts = 10, .dur = 30});
  const Trace only = t.finish();
  EXPECT_NE(error_of(only, {.top = 5}).find("--capture"), std::string::npos);
  for (const EventId event : {call, kernel})
    EXPECT_NE(error_of(only, {.uids = {event.row}}).find("--capture"), std::string::npos);
  TestTrace mixed;
  mixed.op("aten::mm", 0, 10, mm_arguments());
  mixed.launch("cudaLaunchKernel", 2, 1, {.name = "gemm", .ts = 5, .dur = 30});
  mixed.launch("cudaGraphLaunch", 20, 5, {.name = "gemm", .ts = 40, .dur = 10});
  EXPECT_DOUBLE_EQ(choose_replay(mixed.finish(), {.top = 5}).graph_share, 0.25);
}

TEST(Replay, IrNamesArgumentsBySchema) {
  const Replay replay = choose_replay(two_products(), {.all_unique = true});
  std::vector<std::string> left_out;
  const std::string ir =
      replay_ir(replay, "aten::mm(Tensor self, Tensor mat2) -> Tensor\n", left_out);
  EXPECT_EQ(left_out, std::vector<std::string>{"aten::view"});
  const Value ops = *parse_json_value(ir);
  ASSERT_EQ(ops.items().size(), 1u);
  EXPECT_EQ(ops.items()[0].find("count")->as_int(), 2);
  const Value& self = ops.items()[0].find("replay_ir")->find("list_pos_args")->items().at(0);
  EXPECT_EQ(self.find("arg_name")->as_text(), "self");
  EXPECT_EQ(json_text(*self.find("value")),
            R"({"shape": [4, 8], "dtype": "c10::BFloat16", "strides": [8, 1], "init": "normal"})");
}

TEST(Replay, IrNeedsASchema) {
  const Replay replay = choose_replay(two_products(), {.all_unique = true});
  std::vector<std::string> left_out;
  EXPECT_THROW((void)replay_ir(replay, "import torch\n", left_out), Error);
  EXPECT_THROW((void)replay_ir(replay, "", left_out), Error);
}

// The command for one op that adds something to a product of 4 x 8 and 8 x 16.
std::string added(std::string_view op, std::string_view addend, std::string_view factors,
                  GemmBench bench, std::string_view type = "float") {
  const std::string batch = op == "aten::baddbmm" ? "2, " : "";
  Replay replay;
  replay.records.push_back(
      {.call = {.op = std::string{op},
                .types = list(fmt::format(R"(["{0}", "{0}", "{0}", "Scalar", "Scalar"])", type)),
                .dims = list(fmt::format("[{0}, [{1}4, 8], [{1}8, 16], [], []]", addend, batch)),
                .strides = list("[[], [], [], [], []]"),
                .concrete = list(fmt::format(R"(["", "", "", {}])", factors))}});
  const std::vector<std::string> lines = gemm_bench_commands(replay, bench);
  return lines.empty() ? "" : lines.front();
}

TEST(Replay, WhatAGemmAddsIsABiasOrBetaTimesC) {
  const auto has = [](const std::string& text, std::string_view words) {
    return text.find(words) != text.npos;
  };
  const std::string bias = added("aten::addmm", "[16]", R"("1", "0.5")", GemmBench::kHipblaslt);
  EXPECT_TRUE(has(bias, "--alpha 0.5 --beta 0 --bias_vector")) << bias;
  // Not a vector, or scaled: what PyTorch copies to C.
  for (const auto& [op, addend, factors] :
       {std::tuple{"aten::addmm", "[4, 16]", R"("2", "1")"},
        std::tuple{"aten::addmm", "[16]", R"("2", "1")"},
        std::tuple{"aten::baddbmm", "[2, 4, 16]", R"("2.0", "1")"}}) {
    const std::string line = added(op, addend, factors, GemmBench::kHipblaslt);
    EXPECT_TRUE(has(line, "--alpha 1 --beta 2")) << line;
    EXPECT_FALSE(has(line, "bias")) << line;
  }
  const std::string lt = added("aten::addmm", "[4, 16]", R"("1", "3")", GemmBench::kCublaslt);
  EXPECT_TRUE(has(lt, "alpha=3 beta=1")) << lt;
  EXPECT_FALSE(has(lt, "EPILOGUE")) << lt;
  // These add no vector on the way out.
  EXPECT_TRUE(has(added("aten::addmm", "[16]", R"("1", "1")", GemmBench::kRocblas), "--beta 1"));
  EXPECT_TRUE(
      has(added("aten::addmm", "[16]", R"("1", "1")", GemmBench::kCutlass), "--alpha=1 --beta=1"));
  // Not recorded, or no number.
  EXPECT_TRUE(has(added("aten::baddbmm", "[2, 4, 16]", R"("", "x")", GemmBench::kHipblaslt),
                  "--alpha 1 --beta 1"));
}

TEST(Replay, DoublesAreComputedAsDoubles) {
  const auto line = [](GemmBench bench) {
    return added("aten::addmm", "[16]", R"("1", "1")", bench, "double");
  };
  for (const GemmBench bench : {GemmBench::kHipblaslt, GemmBench::kRocblas})
    EXPECT_NE(line(bench).find("--compute_type f64_r"), std::string::npos) << line(bench);
  EXPECT_NE(line(GemmBench::kCublaslt).find("CUBLAS_COMPUTE_64F"), std::string::npos);
}

TEST(Replay, GemmsAsBenchmarkCommands) {
  const Replay replay = choose_replay(two_products(), {.top = 1});
  // C = A B by rows is C' = B' A' by columns: m is the 16 columns of B, which lies by columns.
  EXPECT_EQ(gemm_bench_commands(replay, GemmBench::kHipblaslt),
            std::vector<std::string>{
                "hipblaslt-bench -m 16 -n 4 -k 8 --transA T --transB N --lda 8 --ldb 8 --ldc 16 "
                "--ldd 16 --a_type bf16_r --b_type bf16_r --c_type bf16_r --d_type bf16_r "
                "--compute_type f32_r --alpha 1 --beta 0"});
  EXPECT_EQ(gemm_bench_commands(replay, GemmBench::kCutlass),
            std::vector<std::string>{
                "cutlass_profiler --operation=Gemm --m=4 --n=16 --k=8 --batch_count=1 "
                "--A=bf16:row --B=bf16:column --C=bf16:row"});
  EXPECT_EQ(
      gemm_bench_commands(replay, GemmBench::kCublaslt),
      std::vector<std::string>{"cublasLtMatmul m=16 n=4 k=8 transa=T transb=N lda=8 ldb=8 ldc=16 "
                               "Atype=CUDA_R_16BF Btype=CUDA_R_16BF Ctype=CUDA_R_16BF "
                               "computeType=CUBLAS_COMPUTE_32F alpha=1 beta=0"});
}

TEST(Replay, ScaledGemmsGiveAnotherType) {
  const auto commands = [](std::string_view type, GemmBench bench, std::string_view second = "",
                           std::string_view bias = "") {
    ReplayRecord record;
    record.call = {
        .op = "aten::_scaled_mm",
        .types = list(fmt::format(R"(["{}", "{}", "float", "float", "{}", "", "Scalar", "Scalar"])",
                                  type, second.empty() ? type : second, bias)),
        .dims = list("[[16, 64], [64, 32], [], [], [], [], [], []]"),
        .strides = list("[[64, 1], [1, 64], [], [], [], [], [], []]"),
        .concrete = list(R"(["", "", "", "", "", "", "5", "False"])")};
    Replay replay;
    replay.records.push_back(std::move(record));
    return gemm_bench_commands(replay, bench);
  };
  const auto lines = commands("c10::Float8_e4m3fn", GemmBench::kHipblaslt);
  ASSERT_EQ(lines.size(), 1u);
  EXPECT_NE(lines[0].find("--a_type f8_r --b_type f8_r --c_type f16_r --d_type f16_r"),
            std::string::npos);
  EXPECT_NE(lines[0].find("--scaleA 1 --scaleB 1"), std::string::npos);
  // By columns, the second matrix is the first. The types may differ, as in backwards.
  const std::string mixed =
      commands("c10::Float8_e5m2", GemmBench::kHipblaslt, "c10::Float8_e4m3fn", "c10::Half").at(0);
  EXPECT_NE(mixed.find("--a_type f8_r --b_type bf8_r"), std::string::npos) << mixed;
  EXPECT_NE(mixed.find("--bias_vector"), std::string::npos) << mixed;
  EXPECT_NE(commands("c10::Float8_e5m2", GemmBench::kCublaslt, "c10::Float8_e4m3fn")
                .at(0)
                .find("Atype=CUDA_R_8F_E4M3 Btype=CUDA_R_8F_E5M2"),
            std::string::npos);
  EXPECT_NE(commands("c10::Float8_e5m2", GemmBench::kCutlass, "c10::Float8_e4m3fn")
                .at(0)
                .find("--A=fe5m2:row --B=fe4m3:column --C=f16:row"),
            std::string::npos);
  // AMD's own 8-bit type does not exist for NVIDIA's libraries.
  EXPECT_EQ(commands("c10::Float8_e4m3fnuz", GemmBench::kHipblaslt).size(), 1u);
  EXPECT_TRUE(commands("c10::Float8_e4m3fnuz", GemmBench::kCublaslt).empty());
  EXPECT_TRUE(commands("c10::Float8_e4m3fnuz", GemmBench::kCutlass).empty());
}

TEST(Replay, VerifyTakesEitherOfTwoLongKernels) {
  TestTrace t;
  t.op("aten::mm", 0, 50, mm_arguments());
  t.launch("cudaLaunchKernel", 1, 1, {.name = "first", .ts = 5, .dur = 21});
  t.launch("cudaLaunchKernel", 3, 1, {.name = "second", .ts = 30, .dur = 20});
  const Table table = verify_replay(t.finish(),
                                    R"({"format": "tracelens replay results 1", "results": [
        {"id": 0, "uid": 0, "op": "aten::mm", "status": "ok", "kernel_us": 41,
         "kernels": ["second", "first"]}]})",
                                    "results.json");
  EXPECT_EQ(table.column("verdict").texts()[0], "reproduced");
}

TEST(Replay, VerifyTellsReproducedFromTheRest) {
  const Trace trace = two_products();
  const auto verdict = [&](std::string_view result) {
    const Table table = verify_replay(
        trace,
        R"({"format": "tracelens replay results 1", "results": [)" + std::string{result} + "]}",
        "results.json");
    return table.column("verdict").texts()[0];
  };
  const std::string mm = R"({"id": 0, "uid": 0, "op": "aten::mm", "status": "ok", )";
  EXPECT_EQ(verdict(mm + R"("median_us": 60, "kernel_us": 41, "kernels": ["gemm<'float'>"]})"),
            "reproduced");
  EXPECT_EQ(verdict(mm + R"("median_us": 20})"), "faster in isolation");
  EXPECT_EQ(verdict(mm + R"("median_us": 90})"), "slower in isolation");
  EXPECT_EQ(verdict(mm + R"("median_us": 40, "kernels": ["other"]})"), "other kernel chosen");
  EXPECT_EQ(verdict(R"({"uid": 0, "op": "aten::mm", "status": "skipped", "reason": "x"})"),
            "not run");
  EXPECT_THROW((void)verdict(R"({"uid": 0, "op": "aten::bmm", "status": "ok"})"), Error);
  EXPECT_THROW((void)verdict(R"({"uid": 12345678, "op": "aten::mm", "status": "ok"})"), Error);
  EXPECT_EQ(
      verify_summary(verify_replay(trace,
                                   R"({"format": "tracelens replay results 1", "results": [)" + mm +
                                       R"("median_us": 41}, )" + mm + R"("median_us": 90},
                    {"uid": 0, "op": "aten::mm", "status": "skipped", "reason": "x"}]})",
                                   "results.json")),
      "2 of 3 ops ran; 1 of the 3 above 20 us were reproduced within 15%");
  const Table cached = verify_replay(
      trace,
      R"({"format": "tracelens replay results 1", "results": [)" + mm +
          R"("kernel_us": 41, "cache": "cold", "kernel_us_by_cache": {"cold": 41}}, )" + mm +
          R"("kernel_us": 40, "cache": "warm", "kernel_us_by_cache": {"cold": 60, "warm": 40}}]})",
      "results.json");
  EXPECT_EQ(cached.column("cache").texts()[1], "warm");
  EXPECT_EQ(cached.column("replayed cold").reals()[1], 60);
  EXPECT_EQ(verify_summary(cached),
            "2 of 2 ops ran; 2 of the 2 above 20 us were reproduced within 15%, 1 with a cold "
            "cache alone");
  EXPECT_THROW((void)verify_replay(trace, "{}", "x.json"), Error);
  EXPECT_THROW((void)verify_replay(trace, "not json", "x.json"), Error);
}

}  // namespace
}  // namespace tracelens
