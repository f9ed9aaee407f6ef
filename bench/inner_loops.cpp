// The hot passes on their own, on the trace of tests/data: bytes/s or events/s, each with a check
// of its result.
//   build/check/bench/inner_loops --benchmark_filter=Parse
#include <benchmark/benchmark.h>

#include <string>
#include <tracelens/intervals.hpp>
#include <tracelens/read_trace.hpp>
#include <tracelens/tree.hpp>

#include "io/numbers.hpp"
#include "io/stream.hpp"
#include "readers/chrome/json_scan.hpp"
#include "readers/chrome/padded_text.hpp"
#include "readers/kineto/event.hpp"

namespace tracelens {
namespace {

constexpr char kTrace[] = TL_TEST_DATA "/h200_gpt_train_amp.json.gz";

const PaddedText& trace_text() {
  static const PaddedText kText = [] {
    PaddedText text;
    io::Stream in = io::Stream::open(kTrace);
    for (;;) {
      const std::size_t got = in.read(text.room(std::size_t{1} << 20));
      text.resize(text.size() + got);
      if (got == 0) return text;
    }
  }();
  return kText;
}

std::string_view event_list() {
  const std::string_view text = trace_text().view();
  return text.substr(text.find('[', text.find("\"traceEvents\"")) + 1);
}

void count_bytes(benchmark::State& state, std::size_t bytes) {
  state.SetBytesProcessed(state.iterations() * static_cast<std::int64_t>(bytes));
}
void count_events(benchmark::State& state, std::size_t events) {
  state.SetItemsProcessed(state.iterations() * static_cast<std::int64_t>(events));
}

void Unpack(benchmark::State& state) {
  std::string block(std::size_t{512} << 10, '\0');
  std::size_t bytes = 0;
  for (auto _ : state) {
    io::Stream in = io::Stream::open(kTrace);
    bytes = 0;
    while (const std::size_t got = in.read(block)) bytes += got;
  }
  if (bytes != trace_text().size()) state.SkipWithError("not the whole text");
  count_bytes(state, bytes);
}
BENCHMARK(Unpack);

void SkipWholeTrace(benchmark::State& state) {
  const std::string_view text = trace_text().view();
  const char* const begin = text.data() + text.find('{');
  const char* end = nullptr;
  for (auto _ : state) {
    end = json::skip_container(begin, text.data() + text.size());
    benchmark::DoNotOptimize(end);
  }
  if (end == nullptr || end[-1] != '}') state.SkipWithError("the closing brace was not found");
  count_bytes(state, text.size());
}
BENCHMARK(SkipWholeTrace);

void ParseEvents(benchmark::State& state) {
  const std::string_view text = event_list();
  kineto::ParsedBlock block;
  for (auto _ : state) {
    kineto::EventParser parser;
    block.clear();
    const auto outcome = parser.parse(text, 0, block);
    if (outcome.end != kineto::EventParser::End::kListClosed)
      state.SkipWithError("the list was not read to its end");
  }
  count_bytes(state, text.size());
}
BENCHMARK(ParseEvents);

void ParseTimes(benchmark::State& state) {
  constexpr std::string_view kTimes[] = {"3844341872975.026", "192.687", "0.8", "17"};
  std::int64_t sum = 0;
  for (auto _ : state) {
    sum = 0;
    for (const std::string_view text : kTimes) {
      std::int64_t ns = 0;
      benchmark::DoNotOptimize(io::parse_us_fast(text.data(), text.data() + text.size(), ns));
      sum += ns;
    }
  }
  if (sum != 3'844'341'872'975'026 + 192'687 + 800 + 17'000) state.SkipWithError("wrong sum");
  count_events(state, std::size(kTimes));
}
BENCHMARK(ParseTimes);

void BuildTree(benchmark::State& state) {
  const Trace trace = read_trace(kTrace);
  std::size_t linked = 0;
  for (auto _ : state)
    linked = build_tree(trace, {.python_frames = state.range(0) != 0}).linked_gpu_events().size();
  if (linked != 2126) state.SkipWithError("not every GPU event was linked");
  count_events(state, trace.size());
}
BENCHMARK(BuildTree)->ArgName("frames")->Arg(0)->Arg(1);

void MergeIntervals(benchmark::State& state) {
  std::vector<Interval> gaps_of_one;
  for (std::int64_t i = 0; i < 100'000; ++i) gaps_of_one.push_back({i * 10, i * 10 + 9});
  std::size_t merged = 0;
  for (auto _ : state) merged = merge(gaps_of_one).size();
  if (merged != gaps_of_one.size()) state.SkipWithError("disjoint intervals were joined");
  count_events(state, gaps_of_one.size());
}
BENCHMARK(MergeIntervals);

}  // namespace
}  // namespace tracelens
