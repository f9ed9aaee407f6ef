#include "report/recipes/overview_parts.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include <tracelens/table_text.hpp>

namespace tracelens {

std::string text_at(const Table& table, std::string_view column, std::size_t row) {
  if (!table.has_column(column)) return {};
  const Table::Column& cells = table.column(column);
  return cells.is_missing(row) ? std::string{} : HumanFormat{cells}(row);
}

std::optional<double> number_at(const Table& table, std::string_view column, std::size_t row) {
  if (!table.has_column(column)) return std::nullopt;
  const Table::Column& cells = table.column(column);
  if (cells.is_missing(row)) return std::nullopt;
  if (cells.spec().kind == Kind::kReal) return cells.reals()[row];
  if (cells.spec().kind == Kind::kInteger) return static_cast<double>(cells.integers()[row]);
  return std::nullopt;
}

double percent(std::int64_t part_ns, std::int64_t whole_ns) {
  return whole_ns <= 0 ? 0 : 100 * static_cast<double>(part_ns) / static_cast<double>(whole_ns);
}

std::string time_text(std::int64_t ns) {
  const auto value = static_cast<double>(ns);
  if (std::abs(value) >= 1e9) return fmt::format("{:.3g} s", value / 1e9);
  if (std::abs(value) >= 999'500)
    return fmt::format("{:.{}f} ms", value / 1e6, value < 1e8 ? 1 : 0);
  return fmt::format("{:.3g} µs", value / 1e3);
}

std::vector<Overview::Part> Split::parts() const {
  const auto part = [this](const char* name, std::int64_t ns) {
    return Overview::Part{name, ns, percent(ns, total_ns)};
  };
  return {part("compute", compute_ns), part("communication", comm_ns), part("copy", copy_ns),
          part("idle", idle_ns)};
}

std::string_view bound_of(const Split& split) {
  constexpr double kMuch = 25;  // percent of the GPU's time in which it does not compute
  struct {
    std::string_view name;
    std::int64_t ns;
  } const waits[] = {
      {"host", split.idle_ns}, {"communication", split.comm_ns}, {"copy", split.copy_ns}};
  const auto& most = *std::ranges::max_element(waits, {}, [](const auto& wait) { return wait.ns; });
  return percent(most.ns, split.total_ns) >= kMuch ? most.name : "GPU";
}

}  // namespace tracelens
