// model.hpp: what one call of an op costs, and the reason when that cannot be said; with or without
// a trace, by the models of TraceLens or by one's own.
//   const Signature args = model_arguments("aten::mm", {.dims = "[[8,4],[4,2]]", .dtype = "bf16"});
//   const OrReason<Work> work = op_work({.name = "aten::mm", .args = args});
//   if (work) use(work->flops, work->bytes);
//   else show(work.reason().text);                       // "argument 1 has 1 dimension, need 2"
//
//   ModelSet mine;                                       // asked before the models of TraceLens
//   mine.add("my::scale", {.category = "elementwise"}, [](const OpCall& call) {
//     const double n = tensor_elements(call, 0);
//     return Work{.flops = n, .bytes = 2 * n * tensor_element_bytes(call, 0)};
//   });
//   const Report report = make_report(trace, {.models = &mine});
// Implemented in src/perf and src/analysis/inspect.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <tracelens/edition.hpp>
#include <tracelens/trace.hpp>
#include <tracelens/value.hpp>
#include <utility>
#include <variant>
#include <vector>

namespace tracelens {

// One parameter of a model, e.g. {"M", 2048}: a `param: M` column of the op's sheet.
struct Param {
  std::string name;
  Value value;
};

struct Work {
  double flops = 0;                  // floating-point operations; exact up to 2^53
  std::optional<double> bytes = {};  // moved to and from memory; none: an element size is unknown
  std::string compute_spec = {};     // "matrix_bf16": which peak of the GPU applies; may be empty
  std::vector<Param> params = {};    // in column order
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
// signature; those marked per_call read the rest too.
struct OpCall {
  std::string_view name;
  const Signature& args;
  // Of ConvBias_Backward: the arguments of the forward call with the same sequence number.
  const Signature* forward = nullptr;
  std::span<const std::string_view> kernels = {};  // names of its GPU kernels, by start time
  const StepTokens* step = nullptr;                // of the step it runs in (serving traces)
  const Value* extra = nullptr;  // a dict: what was written into a made-up op besides its arguments
};

// --- the arguments of a call without a trace ---
// As a person writes them: JSON, as in a trace; empty: not given.
struct ArgumentTexts {
  std::string dims = {};      // [[4096,8192],[8192,1024]]
  std::string dtype = {};     // of every tensor: bf16, fp8_e4m3, or as traced ("c10::BFloat16")
  std::string types = {};     // ["float","int"]: one by one instead
  std::string strides = {};   // default: rows one after the other
  std::string concrete = {};  // ["","","True"]; default: what the op itself defaults to, if known
};

// Throws Error, naming the flag of `tracelens model` ("--dims"), when a text is not what it should
// be.
[[nodiscard]] Signature model_arguments(std::string_view op, const ArgumentTexts& texts);

// --- models of one's own ---
// The work of one call. It may throw: a Reason is the answer, what() of any other exception becomes
// one. Called for each op and distinct arguments, a few times at most; by one thread at a time.
using OpModel = std::function<OrReason<Work>(const OpCall& call)>;

// For models: the shape of an argument, the product of its sizes, and the bytes of one element.
// They throw a Reason when the argument is no tensor, or its type is not known.
[[nodiscard]] std::vector<double> tensor_shape(const OpCall& call, std::size_t argument);
[[nodiscard]] double tensor_elements(const OpCall& call, std::size_t argument);
[[nodiscard]] double tensor_element_bytes(const OpCall& call, std::size_t argument);

// How an op is listed.
struct OpListing {
  std::string category;
  // Family of sheets such as "GEMM"; empty: that of the category's name, if there is one.
  std::string sheet = {};
  // The model looks at more than the arguments (OpCall::kernels, OpCall::forward).
  bool per_call = false;
};

namespace perf {
class UserModels;
}

// Models and categories that come before those of TraceLens. Ops are found by name first, then by
// the patterns in the order they were added. A compute_spec that a model leaves empty is taken from
// the category and the type of the first argument that has one.
class ModelSet {
 public:
  ModelSet();
  ModelSet(ModelSet&&) noexcept;
  ModelSet& operator=(ModelSet&&) noexcept;
  ~ModelSet();

  // Each throws Error when there is one for the same op or pattern already, the sheet is not known,
  // or the pattern is no regular expression (RE2, found anywhere in the name).
  void add(std::string op, OpListing listing, OpModel model);
  void add_pattern(std::string pattern, OpListing listing, OpModel model);
  // Only the category of an op that has no model here.
  void add_category(std::string op, std::string category);
  // Models declared in a JSON file, see docs/how-to/own-models.md. Throws Error that names file,
  // line and column.
  void add_file(const std::string& path);

  [[nodiscard]] std::size_t size() const;
  [[nodiscard]] const perf::UserModels& all() const { return *models_; }  // for TraceLens itself

 private:
  std::unique_ptr<perf::UserModels> models_;
};

// --- asking ---
struct WorkOptions {
  Pass pass = Pass::kForward;
  Edition edition = Edition::kExtended;
  const ModelSet* models = nullptr;  // one's own, asked first
};

// The model's answer; a Reason when there is no model or it cannot say. Never throws on any input.
[[nodiscard]] OrReason<Work> op_work(const OpCall& call, const WorkOptions& options = {});

// The category of any op: "GEMM", "SDPA_fwd", ... or "other". `first_kernel` is the name of the
// first kernel it launches, which decides for ops nobody knows; may be empty.
[[nodiscard]] std::string op_category(std::string_view op, std::string_view first_kernel = {},
                                      const WorkOptions& options = {});

}  // namespace tracelens
