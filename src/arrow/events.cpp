// events.cpp: export_events().
#include <algorithm>
#include <array>
#include <limits>
#include <map>
#include <string>
#include <string_view>
#include <tracelens/arrow.hpp>
#include <tracelens/error.hpp>
#include <tracelens/json.hpp>
#include <utility>
#include <vector>

#include "arrow/stream.hpp"

namespace tracelens {
namespace {

using arrow::Dictionary;
using arrow::Field;
using arrow::Part;
using Shared = std::shared_ptr<const Trace>;

constexpr std::size_t kRowsPerBatch = 65'536;
constexpr std::uint32_t kNone = std::numeric_limits<std::uint32_t>::max();

// Numbers that the trace has for every event, where kAbsent means none.
Field number_field(const Shared& trace, std::string name, std::span<const std::int64_t> values) {
  Field field{.name = std::move(name), .format = "l"};
  field.part = [trace, values](std::size_t from, std::size_t count) {
    Part part{.keeps = {trace}};
    arrow::add_validity(part, count, [&](std::size_t i) { return values[from + i] != kAbsent; });
    part.buffers.push_back(values.data() + from);
    return part;
  };
  return field;
}

// Numbers that few events have: dense, with nulls.
Field sparse_field(const Shared& trace, std::string name,
                   const SparseColumn<std::int64_t>& column) {
  Field field{.name = std::move(name), .format = "l"};
  field.part = [trace, &column](std::size_t from, std::size_t count) {
    std::vector<std::int64_t> values(count);
    std::vector<std::uint8_t> there(count);
    const auto rows = column.rows();
    const auto begin = std::ranges::lower_bound(rows, from);
    for (auto row = begin; row != rows.end() && *row < from + count; ++row) {
      values[*row - from] = column.values()[static_cast<std::size_t>(row - rows.begin())];
      there[*row - from] = 1;
    }
    Part part;
    arrow::add_validity(part, count, [&](std::size_t i) { return there[i] != 0; });
    arrow::add_owned(part, std::move(values));
    return part;
  };
  return field;
}

std::shared_ptr<const Dictionary> dictionary_of(
    std::size_t count, const std::function<std::string(std::size_t)>& text) {
  std::vector<std::string> texts(count);
  std::size_t characters = 0;
  for (std::size_t i = 0; i < count; ++i) characters += (texts[i] = text(i)).size();
  const bool wide = characters > std::numeric_limits<std::int32_t>::max();
  auto dictionary = std::make_shared<Dictionary>();
  dictionary->format = wide ? "U" : "u";
  dictionary->size = static_cast<std::int64_t>(count);
  dictionary->texts.buffers.push_back(nullptr);
  arrow::add_texts(dictionary->texts, count, wide,
                   [&](std::size_t i) { return std::string_view{texts[i]}; });
  return dictionary;
}

// Ids of the trace, which stand for texts.
template <class Wrapped>
Field id_field(const Shared& trace, std::string name, std::span<const Wrapped> ids,
               std::shared_ptr<const Dictionary> dictionary) {
  static_assert(sizeof(Wrapped) == sizeof(std::uint32_t));
  Field field{.name = std::move(name), .format = "I", .dictionary = std::move(dictionary)};
  field.part = [trace, ids](std::size_t from, std::size_t count) {
    Part part{.keeps = {trace}};
    arrow::add_validity(part, count, [&](std::size_t i) { return ids[from + i].row != kNone; });
    part.buffers.push_back(ids.data() + from);
    return part;
  };
  return field;
}

// Enumerators, which stand for their names.
template <class Enumeration>
Field enumeration_field(const Shared& trace, std::string name, std::span<const Enumeration> values,
                        std::shared_ptr<const Dictionary> dictionary) {
  static_assert(sizeof(Enumeration) == 1);
  Field field{.name = std::move(name), .format = "C", .dictionary = std::move(dictionary)};
  field.part = [trace, values](std::size_t from, std::size_t) {
    return Part{.buffers = {nullptr, values.data() + from}, .keeps = {trace}};
  };
  return field;
}

Field name_field(const Shared& trace) {
  std::vector<bool> used(trace->string_count());
  for (const StringId id : trace->names())
    if (id.valid()) used[id.row] = true;
  return id_field(trace, "name", trace->names(), dictionary_of(used.size(), [&](std::size_t id) {
                    return used[id]
                               ? arrow::valid_utf8(trace->text({static_cast<std::uint32_t>(id)}))
                               : std::string{};
                  }));
}

// Categories that are none of the known ones get numbers behind those, in a copy of the column.
Field category_field(const Shared& trace) {
  std::map<std::string, std::uint32_t, std::less<>> numbers;
  std::vector<std::string> names;
  const auto number_of = [&](std::string_view text) {
    const auto [found, is_new] =
        numbers.try_emplace(std::string{text}, static_cast<std::uint32_t>(names.size()));
    if (is_new) names.emplace_back(text);
    return found->second;
  };
  for (std::size_t i = 0; i < kCategoryCount; ++i) {
    names.emplace_back(category_name(static_cast<Category>(i)));
    numbers.try_emplace(names.back(), static_cast<std::uint32_t>(i));
  }
  const auto text = [&](std::size_t i) { return arrow::valid_utf8(names[i]); };
  if (std::ranges::count(trace->categories(), Category::kOtherCategory) == 0)
    return enumeration_field(trace, "cat", trace->categories(), dictionary_of(names.size(), text));

  auto codes = std::make_shared<std::vector<std::uint32_t>>(trace->size());
  for (const EventId event : trace->all_events())
    (*codes)[event.row] = trace->category(event) == Category::kOtherCategory
                              ? number_of(trace->category_text(event))
                              : static_cast<std::uint32_t>(trace->category(event));
  Field field{.name = "cat", .format = "I", .dictionary = dictionary_of(names.size(), text)};
  field.part = [codes](std::size_t from, std::size_t) {
    return Part{.buffers = {nullptr, codes->data() + from}, .keeps = {codes}};
  };
  return field;
}

Field phase_field(const Shared& trace) {
  constexpr std::array kNames = {"complete", "flow_start", "flow_end", "instant",
                                 "metadata", "other",      "damaged"};
  return enumeration_field(
      trace, "phase", trace->phases(),
      dictionary_of(kNames.size(), [&](std::size_t i) { return std::string{kNames[i]}; }));
}

std::string plain(const Value& value) {
  return value.is_text() ? arrow::valid_utf8(value.as_text()) : json_text(value);
}

Field track_field(const Shared& trace) {
  const auto tracks = trace->track_table();
  return id_field(trace, "track", trace->tracks(), dictionary_of(tracks.size(), [&](std::size_t i) {
                    return plain(tracks[i].pid) + "/" + plain(tracks[i].tid);
                  }));
}

Field signature_field(const Shared& trace) {
  const auto signatures = trace->signature_table();
  return id_field(
      trace, "signature", trace->signatures(), dictionary_of(signatures.size(), [&](std::size_t i) {
        const Signature& signature = signatures[i];
        return json_text(
            Value::dict({"name", "dims", "types", "strides", "concrete"},
                        {Value{std::string{trace->text(signature.name)}}, signature.dims,
                         signature.types, signature.strides, signature.concrete}));
      }));
}

struct EventColumn {
  std::string_view name;
  Field (*field)(const Shared& trace);
};

constexpr EventColumn kColumns[] = {
    {"ts_ns", [](const Shared& t) { return number_field(t, "ts_ns", t->ts_ns()); }},
    {"dur_ns", [](const Shared& t) { return number_field(t, "dur_ns", t->dur_ns()); }},
    {"correlation",
     [](const Shared& t) { return number_field(t, "correlation", t->correlations()); }},
    {"name", name_field},
    {"cat", category_field},
    {"phase", phase_field},
    {"track", track_field},
    {"signature", signature_field},
    {"external_id",
     [](const Shared& t) { return sparse_field(t, "external_id", t->external_ids()); }},
    {"sequence",
     [](const Shared& t) { return sparse_field(t, "sequence", t->sequence_numbers()); }},
    {"forward_thread",
     [](const Shared& t) { return sparse_field(t, "forward_thread", t->forward_threads()); }},
    {"stream", [](const Shared& t) { return sparse_field(t, "stream", t->streams()); }},
    {"device", [](const Shared& t) { return sparse_field(t, "device", t->devices()); }},
};

}  // namespace

std::vector<std::string_view> event_columns() {
  std::vector<std::string_view> names;
  for (const EventColumn& column : kColumns) names.push_back(column.name);
  return names;
}

void export_events(std::shared_ptr<const Trace> trace, const std::vector<std::string>& columns,
                   ArrowArrayStream* out) {
  std::vector<Field> fields;
  for (const std::string& name : columns) {
    const auto* const column = std::ranges::find(kColumns, name, &EventColumn::name);
    if (column == std::end(kColumns)) throw Error{name, "events have no such column"};
    fields.push_back(column->field(trace));
  }
  arrow::make_stream(std::move(fields), trace->size(), kRowsPerBatch, out);
}

}  // namespace tracelens
