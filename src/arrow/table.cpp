// table.cpp: export_table().
#include <algorithm>
#include <string>
#include <string_view>
#include <tracelens/arrow.hpp>
#include <tracelens/json.hpp>
#include <utility>
#include <vector>

#include "arrow/stream.hpp"

namespace tracelens {
namespace {

using arrow::Field;
using arrow::Part;

const char* format_of(Kind kind) {
  switch (kind) {
    case Kind::kInteger:
      return "l";
    case Kind::kReal:
      return "g";
    case Kind::kBool:
      return "b";
    case Kind::kText:
    case Kind::kNested:
      return "U";
  }
  return "n";
}

Part part_of(const std::shared_ptr<const Table>& table, const Table::Column& column,
             std::size_t from, std::size_t count) {
  Part part{.keeps = {table}};
  arrow::add_validity(part, count, [&](std::size_t i) { return !column.is_missing(from + i); });
  switch (column.spec().kind) {
    case Kind::kInteger:
      part.buffers.push_back(column.integers().data() + from);
      break;
    case Kind::kReal:
      part.buffers.push_back(column.reals().data() + from);
      break;
    case Kind::kBool: {
      std::vector<std::uint8_t> bits((count + 7) / 8);
      for (std::size_t i = 0; i < count; ++i)
        if (column.integers()[from + i] != 0)
          bits[i / 8] = static_cast<std::uint8_t>(bits[i / 8] | (1U << (i % 8)));
      arrow::add_owned(part, std::move(bits));
      break;
    }
    case Kind::kText: {
      std::string text;
      arrow::add_texts(part, count, true, [&](std::size_t i) -> std::string_view {
        return text = arrow::valid_utf8(column.texts()[from + i]);
      });
      break;
    }
    case Kind::kNested: {
      std::string text;
      arrow::add_texts(part, count, true, [&](std::size_t i) -> std::string_view {
        return text = column.is_missing(from + i) ? "" : json_text(column.nested()[from + i]);
      });
      break;
    }
  }
  return part;
}

}  // namespace

void export_table(std::shared_ptr<const Table> table, ArrowArrayStream* out) {
  std::vector<Field> fields;
  for (const Table::Column& column : table->columns()) {
    const ColumnSpec& spec = column.spec();
    Field field{.name = spec.name, .format = format_of(spec.kind)};
    if (!spec.unit.empty()) field.metadata.emplace_back("unit", spec.unit);
    if (!spec.description.empty()) field.metadata.emplace_back("description", spec.description);
    field.part = [table, &column](std::size_t from, std::size_t count) {
      return part_of(table, column, from, count);
    };
    fields.push_back(std::move(field));
  }
  const std::size_t rows = table->rows();
  arrow::make_stream(std::move(fields), rows, std::max<std::size_t>(rows, 1), out);
}

}  // namespace tracelens
