// query.cpp: SQL over a trace. A result becomes a table: the kind of each of its columns is that of its
// cells, which SQLite decides one by one.
#include <pybind11/pybind11.h>
#include <pybind11/stl.h>

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <mutex>
#include <span>
#include <string>
#include <string_view>
#include <tracelens/query.hpp>
#include <tracelens/table.hpp>
#include <tracelens/table_text.hpp>
#include <utility>
#include <variant>
#include <vector>

#include "errors.hpp"
#include "handle.hpp"
#include "parts.hpp"
#include "reading.hpp"

namespace tracelens::python {
namespace py = pybind11;
namespace {

// One column of a result, cell by cell.
class ResultColumn {
 public:
  explicit ResultColumn(std::string name) : name_{std::move(name)} {}

  void add(const QueryCell& cell) {
    if (const auto* whole = std::get_if<std::int64_t>(&cell)) {
      has_integers_ = true;
      cells_.emplace_back(*whole);
    } else if (const auto* real = std::get_if<double>(&cell)) {
      has_reals_ = true;
      cells_.emplace_back(*real);
    } else if (const auto* text = std::get_if<std::string_view>(&cell)) {
      has_texts_ = true;
      cells_.emplace_back(std::string{*text});
    } else if (const auto* bytes = std::get_if<std::span<const std::byte>>(&cell)) {
      has_texts_ = true;
      cells_.emplace_back(std::string{reinterpret_cast<const char*>(bytes->data()), bytes->size()});
    } else {
      cells_.emplace_back(Missing{});
    }
  }

  // Texts beside numbers: each cell keeps what it is.
  [[nodiscard]] ColumnSpec spec(const std::string& name) const {
    const bool has_numbers = has_integers_ || has_reals_;
    const Kind kind = has_texts_ && has_numbers ? Kind::kNested
                      : has_reals_              ? Kind::kReal
                      : has_integers_           ? Kind::kInteger
                                                : Kind::kText;
    return {name, kind, "", ""};
  }
  [[nodiscard]] const std::string& name() const { return name_; }
  [[nodiscard]] std::size_t size() const { return cells_.size(); }
  [[nodiscard]] Cell take(std::size_t row) { return std::move(cells_[row]); }

 private:
  std::string name_;
  std::vector<Cell> cells_;
  bool has_integers_ = false, has_reals_ = false, has_texts_ = false;
};

Table table_of(std::vector<ResultColumn> columns) {
  // SQL lets columns share a name; those of a table are asked for by it.
  std::vector<std::string> names;
  for (const ResultColumn& column : columns) names.push_back(column.name());
  names = distinct_names(std::move(names));
  std::vector<ColumnSpec> specs;
  for (std::size_t i = 0; i < columns.size(); ++i) specs.push_back(columns[i].spec(names[i]));
  Table table{"query", "Rows of a query", specs};
  std::vector<Cell> row(columns.size());
  for (std::size_t i = 0; !columns.empty() && i < columns.front().size(); ++i) {
    for (std::size_t at = 0; at < columns.size(); ++at) row[at] = columns[at].take(i);
    table.append(row);
  }
  return table;
}

// The tables that statements named before, and temporary ones, stay for the next.
class Session {
 public:
  explicit Session(const TraceHandle& handle) { session_.add(handle.shared_trace()); }

  // The rows of the last statement that gives any. Threads wait for each other.
  std::shared_ptr<Table> run(const std::string& sql, const std::vector<QueryParam>& params,
                             double seconds, std::size_t memory_bytes) {
    std::vector<ResultColumn> columns;
    const QueryRows rows{.on_columns =
                             [&](std::span<const std::string> names) {
                               columns.clear();
                               for (const std::string& name : names) columns.emplace_back(name);
                             },
                         .on_row =
                             [&](std::span<const QueryCell> row) {
                               for (std::size_t i = 0; i < row.size(); ++i) columns[i].add(row[i]);
                               return true;
                             }};
    std::shared_ptr<Table> table;
    std::atomic<bool> is_stopped = false, is_running = false;
    run_watched(
        [&] {
          const std::scoped_lock turn{turn_};
          if (is_stopped) return;
          is_running = true;
          session_.set_limits({.seconds = seconds, .memory_bytes = memory_bytes});
          ask(sql, rows, params);
          table = std::make_shared<Table>(table_of(std::move(columns)));
        },
        [] {},
        [&] {
          is_stopped = true;
          if (is_running) session_.cancel();  // not the statement of another thread
        });
    return table;
  }

 private:
  void ask(const std::string& sql, const QueryRows& rows, const std::vector<QueryParam>& params) {
    try {
      session_.run(sql, rows, params);
    } catch (const QueryError& error) {
      const std::string place = error.place().empty() ? "" : "\n" + error.place();
      throw TypedError{ErrorKind::kUsage, error.what() + place};
    } catch (const Error& error) {
      throw TypedError{ErrorKind::kUsage, error.what()};
    }
  }

  QuerySession session_;
  std::mutex turn_;
};

using Values = std::vector<std::pair<std::string, std::variant<std::int64_t, double, std::string>>>;

}  // namespace

void add_query(py::module_& module) {
  py::class_<Session>(module, "QuerySession")
      .def(py::init<const TraceHandle&>(), py::arg("trace"))
      .def(
          "run",
          [](Session& session, const std::string& sql, const Values& values, double seconds,
             std::size_t memory_bytes) {
            std::vector<QueryParam> params;
            for (const auto& [name, value] : values) params.push_back({name, value});
            return session.run(sql, params, seconds, memory_bytes);
          },
          py::arg("sql"), py::arg("params"), py::kw_only{}, py::arg("seconds"),
          py::arg("memory_bytes"));
}

}  // namespace tracelens::python
