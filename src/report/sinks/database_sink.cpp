// database_sink.cpp: tables as a SQLite file, with what their columns mean.
#include <memory>
#include <string>

#include "database/table_writer.hpp"
#include "report/sinks/sinks.hpp"

namespace tracelens {
namespace {

class DatabaseSink final : public Sink {
 public:
  DatabaseSink(const std::string& output, const DocumentInfo& info)
      : file_{output}, trace_info_{trace_info_of(info)} {}

  void write(const Table& table) override { file_.add(table); }

  void finish() override {
    file_.add(trace_info_);
    file_.finish();
  }

 private:
  static Table trace_info_of(const DocumentInfo& info) {
    const ColumnSpec columns[] = {{"schema", Kind::kText, "", "its name in SQL"},
                                  {"source", Kind::kText, "", "what the tables were made from"}};
    Table table{"trace_info", "What the tables were made from", columns};
    for (const std::string& source : info.source) table.add_row("main", source);
    return table;
  }

  db::FileWriter file_;
  Table trace_info_;
};

}  // namespace

std::unique_ptr<Sink> make_database_sink(const std::string& output, const DocumentInfo& info) {
  return std::make_unique<DatabaseSink>(output, info);
}

}  // namespace tracelens
