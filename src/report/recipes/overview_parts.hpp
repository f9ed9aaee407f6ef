// overview_parts.hpp: what the first screens of all kinds of report are put together from.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <tracelens/overview.hpp>
#include <tracelens/table.hpp>
#include <vector>

namespace tracelens {

// A cell of a table that may not be there, by the name of its column.
[[nodiscard]] std::string text_at(const Table& table, std::string_view column, std::size_t row);
[[nodiscard]] std::optional<double> number_at(const Table& table, std::string_view column,
                                              std::size_t row);

[[nodiscard]] double percent(std::int64_t part_ns, std::int64_t whole_ns);
[[nodiscard]] std::string time_text(std::int64_t ns);  // "23.2 ms", "1.57 s", "840 µs"

// Of the table serving_phases: "96 serving steps: 12 mixed (31%), 84 decode (65% of GPU time)", how
// fast they gave tokens, and what decoding is bound by.
[[nodiscard]] std::vector<std::string> serving_texts(const Table& phases);

inline constexpr std::size_t kMostCosts = 5;  // on the screen

// The word in a form a shell takes as one: 'my trace.json'.
[[nodiscard]] std::string shell_word(const std::string& word);

// How the GPU's time divides; of a Timeline with the usual rows.
struct Split {
  std::int64_t compute_ns = 0, comm_ns = 0, copy_ns = 0, idle_ns = 0, total_ns = 0;
  [[nodiscard]] std::vector<Overview::Part> parts() const;
  void add(std::string_view row, std::int64_t ns);  // "idle_time"; rows of other names do not count
};

// A split as a sentence without its end: "Copy-bound: 31.0% of the time the GPU only copies".
// `idle` and `gpu` are what is idle and what works: "the GPU is idle", "the GPU".
[[nodiscard]] std::string verdict_on(const Split& split, std::string_view idle,
                                     std::string_view gpu);

// What bounds a run whose time divides like this: "host", "communication", "copy", or "GPU" when
// the GPU computes most of the time.
[[nodiscard]] std::string_view bound_of(const Split& split);

}  // namespace tracelens
