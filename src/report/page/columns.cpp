#include "report/page/columns.hpp"

#include <algorithm>
#include <functional>
#include <span>
#include <string>
#include <tracelens/table_text.hpp>
#include <vector>

namespace tracelens {
namespace {

using Numbers = std::vector<std::int64_t>;

template <class Items, class Get>
Numbers numbers_of(const Items& items, const Get& get) {
  Numbers numbers;
  numbers.reserve(std::size(items));
  for (const auto& item : items)
    numbers.push_back(static_cast<std::int64_t>(std::invoke(get, item)));
  return numbers;
}

template <class Items, class Get>
std::vector<std::uint8_t> bytes_of(const Items& items, const Get& get) {
  std::vector<std::uint8_t> bytes;
  bytes.reserve(std::size(items));
  for (const auto& item : items) bytes.push_back(static_cast<std::uint8_t>(std::invoke(get, item)));
  return bytes;
}

// A bit per row, the lowest first.
std::vector<std::uint8_t> bits_of(std::span<const std::uint8_t> present) {
  std::vector<std::uint8_t> bits((present.size() + 7) / 8);
  for (std::size_t row = 0; row < present.size(); ++row)
    if (present[row] != 0) bits[row / 8] |= static_cast<std::uint8_t>(1U << row % 8);
  return bits;
}

void add_cells(PageBlob& blob, const std::string& name, const Table::Column& column,
               std::size_t rows, PageTexts& texts) {
  switch (column.spec().kind) {
    case Kind::kText:
    case Kind::kNested: {
      Numbers cells;
      cells.reserve(rows);
      for (std::size_t row = 0; row < rows; ++row)
        cells.push_back(texts.add(plain_text(column, row)));
      blob.add_numbers(name, cells);
      break;
    }
    case Kind::kInteger:
    case Kind::kBool:
      blob.add_numbers(name, column.integers().first(rows), PageBlob::Sign::kSigned);
      break;
    case Kind::kReal:
      blob.add_reals(name, column.reals().first(rows));
      break;
  }
  const std::span present = column.present().first(rows);
  if (std::ranges::find(present, 0) != present.end()) blob.add_bytes(name + "?", bits_of(present));
}

}  // namespace

PageBlob table_blob(const Table& table, std::size_t rows, PageTexts& texts) {
  PageBlob blob;
  const auto add_about = [&](std::string_view name, std::string ColumnSpec::*text) {
    blob.add_numbers(name, numbers_of(table.columns(), [&](const Table::Column& column) {
                       return texts.add(column.spec().*text);
                     }));
  };
  add_about("name", &ColumnSpec::name);
  add_about("unit", &ColumnSpec::unit);
  add_about("description", &ColumnSpec::description);
  blob.add_bytes("kind", bytes_of(table.columns(),
                                  [](const Table::Column& column) { return column.spec().kind; }));
  for (std::size_t i = 0; i < table.columns().size(); ++i)
    add_cells(blob, std::to_string(i), table.columns()[i], rows, texts);
  return blob;
}

PageBlob lane_blob(const PageLane& lane, const Page& page, PageTexts& texts) {
  using enum PageBlob::Sign;
  using enum PageBlob::Delta;
  const auto name_of = [&](const auto& item) { return texts.add(page.names[item.name]); };
  PageBlob blob;
  blob.add_numbers("start", numbers_of(lane.slices, &PageSlice::start_ns), kSigned, kDifferences);
  blob.add_numbers("duration", numbers_of(lane.slices, &PageSlice::duration_ns));
  blob.add_numbers("name", numbers_of(lane.slices, name_of));
  blob.add_bytes("class", bytes_of(lane.slices, &PageSlice::kind));
  blob.add_bytes("row", bytes_of(lane.slices, &PageSlice::row));
  blob.add_numbers("op", numbers_of(lane.slices, &PageSlice::op));
  blob.add_numbers("module", numbers_of(lane.slices, &PageSlice::module));
  blob.add_numbers("latency", numbers_of(lane.slices, &PageSlice::latency_ns), kSigned);
  blob.add_numbers("event", numbers_of(lane.slices, &PageSlice::event), kSigned, kDifferences);
  blob.add_numbers("run_start", numbers_of(lane.runs, &PageRun::start_ns), kSigned, kDifferences);
  blob.add_numbers("run_length", numbers_of(lane.runs, [](const PageRun& run) {
                     return run.end_ns - run.start_ns;
                   }));
  blob.add_numbers("run_busy", numbers_of(lane.runs, &PageRun::busy_ns));
  blob.add_numbers("run_count", numbers_of(lane.runs, &PageRun::count));
  blob.add_numbers("run_longest", numbers_of(lane.runs, &PageRun::longest_ns));
  blob.add_numbers("run_name", numbers_of(lane.runs, name_of));
  blob.add_bytes("run_class", bytes_of(lane.runs, &PageRun::kind));
  blob.add_bytes("run_row", bytes_of(lane.runs, &PageRun::row));
  return blob;
}

PageBlob ops_blob(const Page& page, PageTexts& texts) {
  PageBlob blob;
  const auto add = [&](std::string_view column, PageName PageOp::*text) {
    blob.add_numbers(column, numbers_of(page.ops, [&](const PageOp& op) {
                       return texts.add(page.names[op.*text]);
                     }));
  };
  add("name", &PageOp::name);
  add("shapes", &PageOp::shapes);
  add("types", &PageOp::types);
  return blob;
}

PageBlob nodes_blob(const Page& page, PageTexts& texts) {
  PageBlob blob;
  blob.add_numbers("parent", numbers_of(page.nodes, &PageNode::parent));
  blob.add_numbers("name", numbers_of(page.nodes, [&](const PageNode& node) {
                     return texts.add(page.names[node.name]);
                   }));
  blob.add_bytes("level", bytes_of(page.nodes, &PageNode::level));
  blob.add_bytes("class", bytes_of(page.nodes, &PageNode::kind));
  blob.add_numbers("gpu", numbers_of(page.nodes, &PageNode::gpu_ns));
  blob.add_numbers("backward", numbers_of(page.nodes, &PageNode::backward_ns));
  blob.add_numbers("calls", numbers_of(page.nodes, &PageNode::calls));
  blob.add_numbers("gpu_events", numbers_of(page.nodes, &PageNode::gpu_events));
  blob.add_numbers("op", numbers_of(page.nodes, &PageNode::op));
  return blob;
}

PageBlob texts_blob(const PageTexts& texts) {
  PageBlob blob;
  blob.add_texts("text", texts.all());
  return blob;
}

}  // namespace tracelens
