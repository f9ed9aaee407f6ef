// json.cpp: all tables as one JSON document, written row by row.
//   {"schema": "tracelens.report/1",                  raised when a reader would have to change
//    "title": "…", "subtitle": "…", "version": "…",   texts
//    "source": ["…"],                                 what it was made from
//    "overview": {…},                                 where there is one: the fields of Overview
//    "tables": [
//     {"name": "…", "description": "…",
//      "columns": [{"name": "…", "kind": "real", "unit": "ms", "description": "…"}],
//      "rows": [["aten::mm", 12.5, [8, 4], null]]}]}   one array per row, one item per column
// Kinds: text, integer, real, bool, nested. A missing cell and one that is no finite number is
// null. A nested cell is JSON itself; tuples are arrays.
#include <fmt/format.h>

#include <cmath>
#include <limits>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <tracelens/json.hpp>
#include <tracelens/table_text.hpp>
#include <type_traits>
#include <vector>

#include "io/output_file.hpp"
#include "report/sinks/sinks.hpp"

namespace tracelens {
namespace {

std::string_view kind_name(Kind kind) {
  switch (kind) {
    case Kind::kText:
      return "text";
    case Kind::kInteger:
      return "integer";
    case Kind::kReal:
      return "real";
    case Kind::kBool:
      return "bool";
    case Kind::kNested:
      return "nested";
  }
  return {};
}

class JsonSink final : public Sink {
 public:
  JsonSink(const std::string& output, const DocumentInfo& info) : file_{output} {
    out_ = R"({"schema": "tracelens.report/1")";
    member("title", info.title);
    member("subtitle", info.subtitle);
    member("version", info.version);
    texts(",\n \"source\": [", info.source);
    if (info.overview != nullptr) write_overview(*info.overview);
    out_ += ",\n \"tables\": [";
  }

  void write(const Table& table) override {
    out_ += first_table_ ? "\n  {\"name\": " : ",\n  {\"name\": ";
    first_table_ = false;
    append_json_text(out_, table.name());
    out_ += ", \"description\": ";
    append_json_text(out_, table.description());
    write_columns(table);
    write_rows(table);
    out_ += "}";
  }

  void finish() override {
    out_ += "]}\n";
    flush();
    file_.commit();
  }

 private:
  void member(std::string_view key, std::string_view text) {
    out_.append(",\n \"").append(key).append("\": ");
    append_json_text(out_, text);
  }

  void texts(std::string_view begin, std::span<const std::string> items) {
    out_ += begin;
    for (const std::string& item : items) {
      if (&item != &items.front()) out_ += ", ";
      append_json_text(out_, item);
    }
    out_ += "]";
  }

  void write_overview(const Overview& overview) {
    out_ += ",\n \"overview\": {\"run\": ";
    append_json_text(out_, overview.run);
    member("bound", overview.bound);
    member("verdict", overview.verdict);
    write_causes(overview);
    write_items(",\n \"split\": [", overview.split);
    write_items(",\n \"idle_causes\": [", overview.idle_causes);
    member("costs_title", overview.costs_title);
    write_items(",\n \"costs\": [", overview.costs);
    texts(",\n \"advice\": [", overview.advice);
    texts(",\n \"commands\": [", overview.commands);
    out_ += "}";
  }

  void write_causes(const Overview& overview) {
    member("nothing_found", overview.nothing_found);
    member("causes_title", overview.causes_title);
    out_ += ",\n \"causes\": [";
    for (const Overview::Cause& cause : overview.causes) {
      out_ += &cause == &overview.causes.front() ? "\n  {\"id\": " : ",\n  {\"id\": ";
      append_json_text(out_, cause.id);
      member("title", cause.title);
      out_ += fmt::format(R"(, "saving_ns": {}, "percent": )", cause.saving_ns);
      append_number(cause.percent);
      member("try", cause.remedy);
      out_ += "}";
    }
    out_ += "]";
  }

  template <class Item>
  void write_items(std::string_view begin, const std::vector<Item>& items) {
    out_ += begin;
    for (const Item& item : items) {
      out_ += &item == &items.front() ? "\n  {\"name\": " : ",\n  {\"name\": ";
      append_json_text(out_, item.name);
      out_ += fmt::format(R"(, "ns": {}, "percent": )", item.ns);
      append_number(item.percent);
      if constexpr (std::is_same_v<Item, Overview::Cost>) {
        out_ += R"(, "roof_percent": )";
        append_number(item.roof_percent.value_or(std::numeric_limits<double>::quiet_NaN()));
        out_ += R"(, "costliest": )";
        append_json_text(out_, item.costliest);
      }
      out_ += "}";
    }
    out_ += "]";
  }

  void append_number(double value) {
    out_ += std::isfinite(value) ? fmt::format("{}", value) : "null";
  }

  void write_columns(const Table& table) {
    out_ += ",\n   \"columns\": [";
    for (const Table::Column& column : table.columns()) {
      const ColumnSpec& spec = column.spec();
      out_ += &column == &table.columns().front() ? "\n    {\"name\": " : ",\n    {\"name\": ";
      append_json_text(out_, spec.name);
      out_.append(R"(, "kind": ")").append(kind_name(spec.kind)).append(R"(", "unit": )");
      append_json_text(out_, spec.unit);
      out_ += ", \"description\": ";
      append_json_text(out_, spec.description);
      out_ += "}";
    }
    out_ += "]";
  }

  void write_rows(const Table& table) {
    out_ += ",\n   \"rows\": [";
    for (std::size_t row = 0; row < table.rows(); ++row) {
      out_ += row == 0 ? "\n    [" : ",\n    [";
      for (const Table::Column& column : table.columns()) {
        if (&column != &table.columns().front()) out_ += ", ";
        append_json_cell(out_, column, row);
      }
      out_ += "]";
      flush();
    }
    out_ += "]";
  }

  void flush() {
    file_.write(out_);
    out_.clear();
  }

  io::OutputFile file_;
  std::string out_;  // what is not in the file yet
  bool first_table_ = true;
};

}  // namespace

std::unique_ptr<Sink> make_json_sink(const std::string& output, const DocumentInfo& info) {
  return std::make_unique<JsonSink>(output, info);
}

}  // namespace tracelens
