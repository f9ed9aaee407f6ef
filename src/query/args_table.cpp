#include "query/args_table.hpp"

#include <tracelens/table_text.hpp>
#include <utility>
#include <vector>

#include "database/plain_names.hpp"
#include "database/table_writer.hpp"
#include "sqlite/names.hpp"

namespace tracelens::query {
namespace {

enum ArgColumn { kId, kArgSet, kKeyColumn, kFlatKey, kInt, kString, kReal, kType, kDisplay };

class ArgsCursor final : public VirtualCursor {
 public:
  explicit ArgsCursor(TraceView& view) : view_{view} {}

  void filter(int plan, const char* /*text*/, std::span<sqlite3_value* const> values) override {
    event_ = 0;
    last_ = static_cast<std::uint32_t>(view_.trace().size());
    if (plan == 1 && sqlite3_value_numeric_type(values[0]) != SQLITE_FLOAT) {
      const std::int64_t wanted = sqlite3_value_int64(values[0]);
      const bool is_event = sqlite3_value_numeric_type(values[0]) == SQLITE_INTEGER &&
                            wanted >= 0 && wanted < std::int64_t{last_};
      event_ = is_event ? static_cast<std::uint32_t>(wanted) : 0;
      last_ = is_event ? event_ + 1 : 0;
    }
    load();
  }
  [[nodiscard]] bool done() const override { return event_ >= last_; }
  void next() override {
    if (++at_ < leaves_.size()) return;
    ++event_;
    load();
  }
  [[nodiscard]] std::int64_t rowid() const override {
    return std::int64_t{event_} * kSlots + leaves_[at_].slot;
  }

  void column(sqlite3_context* to, int column) const override {
    const ArgLeaf& leaf = leaves_[at_];
    const Value& value = leaf.value;
    const auto text = [&](std::string_view of) {
      sqlite3_result_text64(to, of.data(), of.size(), SQLITE_TRANSIENT, SQLITE_UTF8);
    };
    switch (column) {
      case kId:
        return sqlite3_result_int64(to, rowid());
      case kArgSet:
        return sqlite3_result_int64(to, event_);
      case kKeyColumn:
        return text(leaf.key);
      case kFlatKey:
        return text(leaf.flat_key);
      case kInt:
        if (value.is_int()) sqlite3_result_int64(to, value.as_int());
        if (value.kind() == Value::Kind::kBool) sqlite3_result_int(to, value.as_bool() ? 1 : 0);
        return;
      case kString:
        if (value.is_text()) text(value.as_text());
        return;
      case kReal:
        if (value.kind() == Value::Kind::kReal) sqlite3_result_double(to, value.as_real());
        return;
      case kType:
        return text(value_type(value));
      default:
        return text(value.is_text() ? value.as_text() : python_repr(value));
    }
  }

 private:
  // The next event that has any.
  void load() {
    at_ = 0;
    for (; event_ < last_; ++event_) {
      leaves_.clear();
      collect_args(view_, event_, leaves_);
      if (!leaves_.empty()) return;
    }
  }

  TraceView& view_;
  std::vector<ArgLeaf> leaves_;
  std::size_t at_ = 0;
  std::uint32_t event_ = 0, last_ = 0;
};

class ArgsTable final : public VirtualTable {
 public:
  explicit ArgsTable(std::shared_ptr<TraceView> view) : view_{std::move(view)} {}

  [[nodiscard]] std::string declaration() const override {
    std::string columns;
    const Table args = args_description();
    for (const Table::Column& column : args.columns())
      columns.append(columns.empty() ? "" : ", ")
          .append(db::quoted_name(column.spec().name))
          .append(" ")
          .append(db::sql_type(column.spec().kind));
    return "CREATE TABLE x(" + columns + ")";
  }
  int best_index(sqlite3_index_info& info) override {
    const auto rows = 8 * static_cast<double>(view_->trace().size());
    info.estimatedCost = 10 * rows;
    info.estimatedRows = static_cast<sqlite3_int64>(rows);
    for (int i = 0; i < info.nConstraint; ++i)
      if (info.aConstraint[i].usable != 0 && info.aConstraint[i].iColumn == kArgSet &&
          info.aConstraint[i].op == SQLITE_INDEX_CONSTRAINT_EQ) {
        info.aConstraintUsage[i].argvIndex = 1;
        info.idxNum = 1;
        info.estimatedCost = 10;
        info.estimatedRows = 8;
        break;
      }
    return SQLITE_OK;
  }
  [[nodiscard]] std::unique_ptr<VirtualCursor> open() override {
    return std::make_unique<ArgsCursor>(*view_);
  }

 private:
  std::shared_ptr<TraceView> view_;
};

}  // namespace

Table args_description() {
  const ColumnSpec columns[] = {
      {"id", Kind::kInteger, "id", "number of the row"},
      {"arg_set_id", Kind::kInteger, "id", "number of the event in the file"},
      {"key", Kind::kText, "", "args.Input Dims[0][1]"},
      {"flat_key", Kind::kText, "", "the same without places in lists: args.Input Dims"},
      {"int_value", Kind::kInteger, "", "of whole numbers"},
      {"string_value", Kind::kText, "", "of texts"},
      {"real_value", Kind::kReal, "", "of other numbers"},
      {"value_type", Kind::kText, "", "int, string, real, bool or null"},
      {"display_value", Kind::kText, "", "as text, whatever it is"}};
  return {"args", std::string{kArgsDescription}, columns};
}

std::unique_ptr<VirtualTable> args_table(std::shared_ptr<TraceView> view) {
  return std::make_unique<ArgsTable>(std::move(view));
}

void collect_args(TraceView& view, std::uint32_t event, std::vector<ArgLeaf>& out) {
  view.column_args(event, out);
  const auto append = [&](const std::vector<ArgLeaf>& leaves) {
    out.insert(out.end(), leaves.begin(), leaves.end());
  };
  if (const SignatureId signature = view.trace().signatures()[event]; signature.valid())
    append(view.signature_args(signature));
  if (const auto details = view.trace().detail_texts().at(EventId{event}))
    append(view.detail_args(*details));
}

std::string_view value_type(const Value& value) {
  switch (value.kind()) {
    case Value::Kind::kBool:
      return "bool";
    case Value::Kind::kInt:
      return "int";
    case Value::Kind::kReal:
      return "real";
    case Value::Kind::kText:
      return "string";
    default:
      return "null";
  }
}

}  // namespace tracelens::query
