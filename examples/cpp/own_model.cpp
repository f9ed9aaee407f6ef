// own_model TRACE: an op that TraceLens does not know gets a model, from code. Shows what the model
// says without a trace, and how often ops of the trace have work with it.
#include <cstdio>
#include <string>
#include <tracelens/tracelens.hpp>

using namespace tracelens;

namespace {

// y = x * w, row by row, with w in registers.
OrReason<Work> scale_rows(const OpCall& call) {
  const double elements = tensor_elements(call, 0);  // throws a Reason when it is no tensor
  return Work{.flops = elements,
              .bytes = 2 * elements * tensor_element_bytes(call, 0),
              .params = {{"rows", Value{static_cast<std::int64_t>(tensor_shape(call, 0).at(0))}}}};
}

}  // namespace

int main(int argc, char** argv) try {
  if (argc != 2) throw Error{"own_model", "name one trace"};
  ModelSet mine;
  mine.add("my::scale_rows", {.category = "elementwise"}, scale_rows);
  mine.add_pattern("^aten::_?copy", {.category = "copies"}, scale_rows);
  mine.add_category("my::barrier", "waiting");

  // --- without a trace ---
  const Signature args =
      model_arguments("my::scale_rows", {.dims = "[[4096,8192]]", .dtype = "bf16"});
  const OrReason<Work> work = op_work({.name = "my::scale_rows", .args = args}, {.models = &mine});
  if (!work) throw Error{"my::scale_rows", work.reason().text};
  std::printf("%.0f FLOPs, %.0f bytes on %s\n", work->flops, *work->bytes,
              work->compute_spec.c_str());
  if (const auto roof = roofline(*work, *find_gpu("H200")))
    std::printf("at best %.1f us, %s\n", roof->best_us,
                std::string{bound_name(roof->bound)}.c_str());

  // --- in a report ---
  ReportOptions options;
  options.models = &mine;
  const auto table = make_table(read_trace(argv[1]), "unified_perf_summary", options);
  std::size_t copies = 0;
  if (table)
    for (const std::string& category : table->column("op category").texts())
      copies += category == "copies" ? 1 : 0;
  std::printf("%zu distinct calls are copies\n", copies);
  return 0;
} catch (const Error& error) {
  std::fprintf(stderr, "%s\n", error.what());
  return 2;
}
