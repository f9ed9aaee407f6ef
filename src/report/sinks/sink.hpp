// sink.hpp: one kind of document: what write_tables() (tracelens/sinks.hpp) hands its tables to.
//   const std::unique_ptr<Sink> sink = make_sink("report.xlsx", {.title = "Performance report"});
//   for (const Table& table : tables) sink->write(table);
//   sink->finish();
#pragma once

#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <tracelens/sinks.hpp>
#include <tracelens/table.hpp>

namespace tracelens {

// The first sheet of a workbook with an overview: it is no table.
inline constexpr std::string_view kCoverSheet = "overview";

// A sink writes finished tables and nothing else: no sums, no sorting, no choice of unit.
struct Sink {
  virtual ~Sink() = default;
  // Once per table, in report order; the table stays where it is until finish(). Throws Error.
  virtual void write(const Table& table) = 0;
  virtual void finish() = 0;  // renames the temporary file into place
};

// One kind of document. `make` opens the output; it throws Error when it cannot be written.
struct SinkKind {
  std::string_view extension;  // ".xlsx"
  std::unique_ptr<Sink> (*make)(const std::string& output, const DocumentInfo& info);
};
[[nodiscard]] std::span<const SinkKind> sink_kinds();

// The sink for `output`: a folder of CSV files when it ends in '/' or is a folder already,
// otherwise by its extension. Throws Error that lists the known extensions.
[[nodiscard]] std::unique_ptr<Sink> make_sink(const std::string& output, const DocumentInfo& info);

}  // namespace tracelens
