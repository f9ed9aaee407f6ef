// kernels.hpp: the kernels of a JAX profile, in the order profile viewers number them.
//   const JaxKernels kernels{trace, tree, ops};
//   for (const JaxKernel& kernel : kernels.all()) use(kernel.uid, kernel.category);
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string_view>
#include <tracelens/trace.hpp>
#include <tracelens/tree.hpp>
#include <vector>

#include "analysis/jax/ops.hpp"

namespace tracelens {

struct JaxKernel {
  EventId event;
  std::uint32_t kind = 0;     // the same for kernels of one name and one op
  const JaxOp* op = nullptr;  // nullptr: no compiled module launched it
  std::int64_t uid = 0;       // its number among the events of the file
  std::int64_t pid = 0, tid = 0;
  std::string_view category;               // jax_category()
  std::optional<std::int64_t> latency_ns;  // from its launch on the host
  std::int64_t dur_ns = 0;
  std::int64_t op_ns = 0;  // all kernels of this run of its op together
};

class JaxKernels {
 public:
  JaxKernels(const Trace& trace, const Tree& tree, const JaxOps& ops);
  [[nodiscard]] std::span<const JaxKernel> all() const { return kernels_; }
  [[nodiscard]] std::size_t kinds() const { return kinds_; }  // JaxKernel::kind is less
  [[nodiscard]] const Trace& trace() const { return trace_; }
  [[nodiscard]] std::string_view name(const JaxKernel& kernel) const {
    return trace_.name(kernel.event);
  }
  [[nodiscard]] std::size_t gpus() const { return gpus_; }  // that ran any of these

  // Only the kernels whose op's metadata has one of the words; all without words.
  [[nodiscard]] JaxKernels with_metadata(std::span<const std::string> words) const;

 private:
  explicit JaxKernels(const Trace& trace) : trace_{trace} {}
  void count_gpus();

  const Trace& trace_;
  std::vector<JaxKernel> kernels_;
  std::size_t gpus_ = 0, kinds_ = 0;
};

// Whether an event was put above kernels by the reader: a module run or the run of an op.
[[nodiscard]] bool is_jax_span(const Trace& trace, EventId event);

}  // namespace tracelens
