#include "report/recipes/overview_parts.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <cmath>
#include <utility>

#include <tracelens/table_text.hpp>

#include "analysis/kit/cells.hpp"

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
  return percent_of(part_ns, whole_ns).value_or(0);
}

std::string time_text(std::int64_t ns) {
  const auto value = static_cast<double>(ns);
  if (std::abs(value) >= 1e11) return fmt::format("{:.0f} s", value / 1e9);
  if (std::abs(value) >= 1e9) return fmt::format("{:.3g} s", value / 1e9);
  if (std::abs(value) >= 999'500)
    return fmt::format("{:.{}f} ms", value / 1e6, value < 1e8 ? 1 : 0);
  return fmt::format("{:.3g} µs", value / 1e3);
}

std::vector<Overview::Part> Split::parts() const {
  const auto part = [this](const char* name, std::int64_t ns) {
    return Overview::Part{name, ns, percent(ns, total_ns)};
  };
  return {part("compute", compute_ns), part("exposed communication", comm_ns),
          part("exposed copy", copy_ns), part("idle", idle_ns)};
}

void Split::add(std::string_view row, std::int64_t ns) {
  const std::pair<std::string_view, std::int64_t*> figures[] = {
      {"computation_time", &compute_ns}, {"exposed_comm_time", &comm_ns},
      {"exposed_memcpy_time", &copy_ns}, {"idle_time", &idle_ns},
      {"micro_idle_time", &idle_ns},     {"macro_idle_time", &idle_ns},
      {"total_time", &total_ns}};
  for (const auto& [name, figure] : figures)
    if (name == row) *figure += ns;
}

std::string verdict_on(const Split& split, std::string_view idle, std::string_view gpu) {
  const auto share = [&](std::int64_t ns) { return percent(ns, split.total_ns); };
  const std::string_view bound = bound_of(split);
  if (bound == "host")
    return fmt::format("Host-bound: {} {:.1f}% of the time", idle, share(split.idle_ns));
  if (bound == "communication")
    return fmt::format("Communication-bound: {:.1f}% of the time {} only communicates",
                       share(split.comm_ns), gpu);
  if (bound == "copy")
    return fmt::format("Copy-bound: {:.1f}% of the time {} only copies", share(split.copy_ns), gpu);
  return fmt::format("GPU-bound: {} computes {:.1f}% of the time", gpu, share(split.compute_ns));
}

std::string shell_word(const std::string& word) {
  constexpr std::string_view kPlain = "%+,-./:=@_~";
  const bool is_plain = !word.empty() && std::ranges::all_of(word, [&](char c) {
    return std::isalnum(static_cast<unsigned char>(c)) != 0 || kPlain.find(c) != kPlain.npos;
  });
  if (is_plain) return word;
  std::string text = "'";
  for (const char c : word) text += c == '\'' ? "'\\''" : std::string(1, c);
  return text + "'";
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
