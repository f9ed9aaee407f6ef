// simdjson_pass.cpp: the yardstick of our budgets: one single-threaded simdjson On-Demand pass that
// reads ph, cat, name, ts and dur of every event and keeps nothing.
//   simdjson_pass trace.json   ->   {"seconds": 0.178, "events": 417870, "bytes": 222000000}
// Loading the file is not counted; the parser is new, so its memory is.
#include <fmt/format.h>
#include <simdjson.h>

#include <chrono>
#include <cstdint>
#include <cstdio>
#include <string_view>

namespace {

struct Totals {  // what the pass read, so that no read can be optimised away
  std::uint64_t events = 0, text_bytes = 0;
  double time_us = 0;
};

// Fields are taken in the order of the text, which is the fastest way through On-Demand; once all
// five are seen, the rest of the event is skipped without being looked at.
void read_event(simdjson::ondemand::object event, Totals& totals) {
  int wanted = 5;
  for (auto field : event) {
    const simdjson::ondemand::raw_json_string key = field.key();
    if (key.unsafe_is_equal("ph") || key.unsafe_is_equal("cat") || key.unsafe_is_equal("name")) {
      totals.text_bytes += field.value().get_string().value().size();
    } else if (key.unsafe_is_equal("ts") || key.unsafe_is_equal("dur")) {
      totals.time_us += field.value().get_double().value();
    } else {
      continue;
    }
    if (--wanted == 0) break;
  }
  ++totals.events;
}

Totals pass(const simdjson::padded_string& text) {
  Totals totals;
  simdjson::ondemand::parser parser;
  simdjson::ondemand::document document = parser.iterate(text);
  simdjson::ondemand::array events = document.type() == simdjson::ondemand::json_type::array
                                         ? document.get_array()
                                         : document["traceEvents"].get_array();
  for (auto event : events) read_event(event.get_object(), totals);
  return totals;
}

}  // namespace

int main(int argc, char** argv) {
  if (argc != 2) {
    fmt::print(stderr, "usage: simdjson_pass TRACE.json (uncompressed, below 4 GB)\n");
    return 2;
  }
  try {
    const simdjson::padded_string text = simdjson::padded_string::load(argv[1]);
    const auto start = std::chrono::steady_clock::now();
    const Totals totals = pass(text);
    const std::chrono::duration<double> took = std::chrono::steady_clock::now() - start;
    fmt::print("{{\"seconds\": {:.6f}, \"events\": {}, \"bytes\": {}, \"checksum\": {:.6g}}}\n",
               took.count(), totals.events, text.size(),
               totals.time_us + static_cast<double>(totals.text_bytes));
  } catch (const simdjson::simdjson_error& error) {
    fmt::print(stderr, "simdjson_pass: {}: {}\n", argv[1], error.what());
    return 2;
  }
  return 0;
}
