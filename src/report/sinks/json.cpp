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
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <tracelens/json.hpp>
#include <tracelens/table_text.hpp>

#include "io/output_file.hpp"
#include "report/sinks/overview_json.hpp"
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
    if (info.overview != nullptr) {
      out_ += ",\n \"overview\": ";
      out_ += overview_json(*info.overview);
    }
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
