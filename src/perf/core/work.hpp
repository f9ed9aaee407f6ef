// work.hpp: what one call of an op costs, and the reason when that cannot be said.
//   const OrReason<Work> work = op_work({.name = "aten::mm", .args = signature});
//   if (work) use(work->flops, work->bytes);
//   else show(work.reason().text);                       // "argument 1 has 1 dimension, need 2"
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <tracelens/trace.hpp>
#include <tracelens/value.hpp>
#include <utility>
#include <variant>
#include <vector>

#include "perf/core/op_info.hpp"

namespace tracelens::perf {

// One parameter of a model, e.g. {"M", 2048}: a `param: M` column of the op's sheet.
struct Param {
  std::string name;
  Value value;
};

struct Work {
  double flops = 0;             // floating-point operations; exact up to 2^53
  std::optional<double> bytes;  // moved to and from memory; none: an element size is unknown
  std::string compute_spec;     // "matrix_bf16": which peak of the GPU applies; may be empty
  std::vector<Param> params;    // in column order
};

struct Reason {
  enum class Kind : std::uint8_t {
    kNoModel,         // nobody has written a model for this op
    kNotImplemented,  // the model declares this case unsupported
    kFailed,          // the arguments are missing, malformed or of the wrong shape
  };
  Kind kind = Kind::kFailed;
  std::string text;  // half a sentence for a person
};

template <class T>
class OrReason {
 public:
  OrReason(T value) : held_{std::move(value)} {}         // NOLINT(*-explicit-*)
  OrReason(Reason reason) : held_{std::move(reason)} {}  // NOLINT(*-explicit-*)
  [[nodiscard]] explicit operator bool() const { return held_.index() == 0; }
  [[nodiscard]] const T& operator*() const { return std::get<0>(held_); }
  [[nodiscard]] const T* operator->() const { return &std::get<0>(held_); }
  [[nodiscard]] T& operator*() { return std::get<0>(held_); }
  [[nodiscard]] T* operator->() { return &std::get<0>(held_); }
  [[nodiscard]] const Reason& reason() const { return std::get<1>(held_); }  // only when !*this

 private:
  std::variant<T, Reason> held_;
};

// Which work is asked for: that of the op itself, or that of the backward op linked to it.
enum class Pass : std::uint8_t { kForward, kBackward };

// The tokens a serving engine processed in one step, as its annotation gives them: sums over the
// requests being prefilled (context) and those being decoded (generation) of the query length, the
// length of the keys, and their products.
struct StepTokens {
  struct Group {
    double sq = 0, sk = 0, sqsq = 0, sqsk = 0;
  };
  Group context, generation;
};

// One call of an op. Nearly every model reads only `name` and `args`, so it may run once per
// signature; the rows marked OpInfo::per_call read the rest too.
struct OpCall {
  std::string_view name;
  const Signature& args;
  // Of ConvBias_Backward: the arguments of the forward call with the same sequence number.
  const Signature* forward = nullptr;
  std::span<const std::string_view> kernels = {};  // names of its GPU kernels, by start time
  const StepTokens* step = nullptr;                // of the step it runs in (serving traces)
  const Value* extra = nullptr;  // a dict: what was written into a made-up op besides its arguments
};

}  // namespace tracelens::perf
