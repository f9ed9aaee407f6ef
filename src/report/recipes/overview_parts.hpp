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

// How the GPU's time divides; of a Timeline with the usual rows.
struct Split {
  std::int64_t compute_ns = 0, comm_ns = 0, copy_ns = 0, idle_ns = 0, total_ns = 0;
  [[nodiscard]] std::vector<Overview::Part> parts() const;
};

// What bounds a run whose time divides like this: "host", "communication", "copy", or "GPU" when
// the GPU computes most of the time.
[[nodiscard]] std::string_view bound_of(const Split& split);

}  // namespace tracelens
