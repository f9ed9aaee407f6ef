// single_ops TRACE: the slowest call of each matrix product: what a report sums up, call by call.
#include <cstdio>
#include <map>
#include <string>
#include <tracelens/tracelens.hpp>
#include <vector>

using namespace tracelens;

int main(int argc, char** argv) try {
  if (argc != 2) throw Error{"single_ops", "name one trace"};
  const Trace trace = read_trace(argv[1]);
  const Tree tree = build_tree(trace);
  OpRows rows{trace, tree};

  std::vector<EventId> products;
  for (const EventId event : trace.all_events())
    if (trace.category(event) == Category::kCpuOp && trace.name(event) == "aten::mm")
      products.push_back(event);
  const Table calls = rows.perf(products);

  std::map<std::string, std::size_t> slowest;  // by parameters: row of the call
  const auto times = calls.column("Kernel Time (µs)").reals();
  for (std::size_t row = 0; row < calls.rows(); ++row) {
    if (!calls.column("problem").is_missing(row)) continue;  // no model, or no answer
    const auto [found, is_new] =
        slowest.try_emplace(python_repr(calls.column("perf_params").nested()[row]), row);
    if (!is_new && times[row] > times[found->second]) found->second = row;
  }
  std::printf("%zu calls of aten::mm, %zu distinct\n", calls.rows(), slowest.size());
  for (const auto& [parameters, row] : slowest)
    std::printf("%9.1f us  %6.1f TFLOP/s  event %lld  %s\n", times[row],
                calls.column("TFLOPS/s").reals()[row],
                static_cast<long long>(calls.column("UID").integers()[row]), parameters.c_str());
  return 0;
} catch (const Error& error) {
  std::fprintf(stderr, "%s\n", error.what());
  return 2;
}
