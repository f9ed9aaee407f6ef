// Walks vectors.tsv: one call per line, with the work it must come to.
#include <gtest/gtest.h>

#include <algorithm>
#include <fstream>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "perf/registry/families.hpp"
#include "perf/registry/op_registry.hpp"
#include "perf/registry/op_work.hpp"
#include "trace/json_value.hpp"

namespace tracelens::perf {
namespace {

Value member(const Value& dict, std::string_view key) {
  const Value* found = dict.find(key);
  return found ? *found : Value{};
}

Signature signature_of(const Value& given) {
  return {.name = {},
          .dims = member(given, "dims"),
          .types = member(given, "types"),
          .strides = member(given, "strides"),
          .concrete = member(given, "concrete")};
}

StepTokens step_of(const Value& numbers) {
  const auto group = [&](std::size_t first) {
    const auto& items = numbers.items();
    return StepTokens::Group{items[first].as_real(), items[first + 1].as_real(),
                             items[first + 2].as_real(), items[first + 3].as_real()};
  };
  return {.context = group(0), .generation = group(4)};
}

struct Vector {
  std::size_t line = 0;
  std::string op, compute_spec;
  Value signature, extra;
  std::string flops, bytes, backward_flops, backward_bytes;  // "none", "reason" or a number
};

std::vector<Vector> read_vectors() {
  std::ifstream file{std::string{"src/perf/registry/vectors.tsv"}};
  EXPECT_TRUE(file) << "src/perf/registry/vectors.tsv";
  std::vector<Vector> vectors;
  std::string line;
  for (std::size_t number = 1; std::getline(file, line); ++number) {
    if (line.starts_with('#')) continue;
    std::vector<std::string> cells;
    for (std::size_t from = 0; from <= line.size();) {
      const std::size_t end = std::min(line.find('\t', from), line.size());
      cells.push_back(line.substr(from, end - from));
      from = end + 1;
    }
    if (cells.size() != 8) {
      ADD_FAILURE() << "line " << number << " has " << cells.size() << " cells";
      continue;
    }
    const auto signature = parse_json_value(cells[1]), extra = parse_json_value(cells[7]);
    if (!signature || !extra) {
      ADD_FAILURE() << "line " << number << " holds bad JSON";
      continue;
    }
    vectors.push_back(
        {number, cells[0], cells[6], *signature, *extra, cells[2], cells[3], cells[4], cells[5]});
  }
  return vectors;
}

void expect_work(const OrReason<Work>& work, const std::string& flops, const std::string& bytes) {
  if (flops == "reason") {
    EXPECT_FALSE(work) << "a reason was expected, got " << (work ? work->flops : 0);
    return;
  }
  ASSERT_TRUE(work) << work.reason().text;
  EXPECT_DOUBLE_EQ(work->flops, std::stod(flops));
  ASSERT_EQ(work->bytes.has_value(), bytes != "none");
  if (bytes == "none") return;
  EXPECT_DOUBLE_EQ(*work->bytes, std::stod(bytes));
}

// Numbers equal in value and kind; lists and tuples alike.
bool same(const Value& a, const Value& b) {
  if (a.is_sequence() && b.is_sequence())
    return std::ranges::equal(a.items(), b.items(), [](const Value& x, const Value& y) {
      return x == y || (x.is_sequence() && y.is_sequence() && x.items() == y.items());
    });
  return a == b;
}

void expect_params(const Work& work, const Value& params) {
  for (std::size_t i = 0; i < params.keys().size(); ++i) {
    const auto found = std::ranges::find(work.params, params.keys()[i], &Param::name);
    ASSERT_NE(found, work.params.end()) << params.keys()[i];
    EXPECT_TRUE(same(found->value, params.items()[i])) << params.keys()[i];
  }
}

TEST(Vectors, EveryLineComesToItsWork) {
  for (const Vector& vector : read_vectors()) {
    SCOPED_TRACE("line " + std::to_string(vector.line) + ": " + vector.op);
    const Signature args = signature_of(vector.signature);
    const Value forward_given = member(vector.extra, "forward");
    const Signature forward = signature_of(forward_given);
    const std::string kernel = member(vector.extra, "kernel").as_text();
    const std::string_view kernels[] = {kernel};
    const Value step_given = member(vector.extra, "step");
    const StepTokens step = step_given.is_null() ? StepTokens{} : step_of(step_given);
    const Value more = member(vector.extra, "args");
    OpCall call{.name = vector.op, .args = args};
    if (!forward_given.is_null()) call.forward = &forward;
    if (!kernel.empty()) call.kernels = kernels;
    if (!step_given.is_null()) call.step = &step;
    if (!more.is_null()) call.extra = &more;

    const auto work = built_in_work(call, Pass::kForward);
    expect_work(work, vector.flops, vector.bytes);
    if (work) {
      EXPECT_EQ(work->compute_spec, vector.compute_spec);
      expect_params(*work, member(vector.extra, "params"));
    }
    expect_work(built_in_work(call, Pass::kBackward), vector.backward_flops, vector.backward_bytes);
  }
}

TEST(Vectors, EveryModelOfTheReferenceHasALine) {
  std::set<std::string_view> tested;
  const auto vectors = read_vectors();
  for (const Vector& vector : vectors)
    if (const OpInfo* op = find_op(vector.op)) tested.insert(op->model);
  for (const OpInfo* op : all_ops(Edition::kReference))
    EXPECT_TRUE(op->model.empty() || tested.contains(op->model)) << op->model;
}

}  // namespace
}  // namespace tracelens::perf
