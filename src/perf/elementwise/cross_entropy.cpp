// cross_entropy.cpp: the loss over a vocabulary, fused.
// FLOPs = 5 per logit (maximum, exponential, sum, logarithm, gradient); bytes = the logits, a
// 64-bit label and a 32-bit loss per row.
#include "perf/core/arguments.hpp"
#include "perf/core/family_list.hpp"

namespace tracelens::perf {
namespace {

Work cross_entropy(const Arguments& in) {
  in.forward_only();
  const Shape logits = in.shape(0);
  const double rows = logits.at(0), vocabulary = logits.last();
  const std::string type = in.type_or(0, "");
  return in.work(
      5 * rows * vocabulary, logits.elements() * in.bytes_or(type, 2) + 12 * rows, Unit::kVector,
      type,
      {{"batch", count(rows)}, {"vocab_size", count(vocabulary)}, {"logits_shape", logits.list()}});
}

constexpr ModelledOp kOps[] = {
    {{.name = "CrossEntropyFunction",
      .model = "cross_entropy_fwd",
      .category = "CrossEntropy_fwd",
      .sheet = "CrossEntropy"},
     cross_entropy},
};

}  // namespace

constinit const Family kCrossEntropy = modelled<kOps>();

}  // namespace tracelens::perf
