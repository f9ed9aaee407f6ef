// schema.hpp: what one schema of a session is about: a trace, a finished report, or a file.
//   Schema schema{"main", view};
//   if (const auto table = schema.table("gpu_timeline")) use(*table);
#pragma once

#include <map>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <tracelens/report.hpp>
#include <tracelens/table.hpp>
#include <vector>

#include "query/trace_view.hpp"

namespace tracelens::query {

class Schema {
 public:
  Schema(std::string schema, std::string name)
      : schema_{std::move(schema)}, name_{std::move(name)} {}
  Schema(std::string schema, std::shared_ptr<TraceView> view);
  Schema(std::string schema, Report report);

  [[nodiscard]] const std::string& schema() const { return schema_; }
  [[nodiscard]] const std::string& name() const { return name_; }  // of the file it came from
  [[nodiscard]] const std::shared_ptr<TraceView>& view() const { return view_; }

  // A small table or one of the report, made on first use; null: there is none of this name. Throws
  // Error when the report of this trace does not have it.
  [[nodiscard]] std::shared_ptr<const Table> table(std::string_view name);
  // Tables of the report that somebody else has made.
  void provide(std::span<const std::shared_ptr<const Table>> tables);
  // Every table, as rows of table_info and column_info.
  void list(Table& tables, Table& columns);

 private:
  // The name of a table of the report as it is spelled there; empty: there is none.
  [[nodiscard]] std::string report_table(std::string_view name) const;

  std::string schema_, name_;
  std::shared_ptr<TraceView> view_;
  std::map<std::string, std::shared_ptr<const Table>> made_;  // by name in lower case
};

// What the sources are, as table trace_info.
[[nodiscard]] Table trace_info_of(const std::vector<std::unique_ptr<Schema>>& sources);

}  // namespace tracelens::query
