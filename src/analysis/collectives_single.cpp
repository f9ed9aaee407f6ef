#include "analysis/collectives_single.hpp"

#include <algorithm>
#include <array>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "analysis/cells.hpp"
#include "analysis/gpu_work.hpp"
#include "analysis/group_rows.hpp"
#include "analysis/group_stats.hpp"
#include "io/ascii.hpp"
#include "table/cell_text.hpp"
#include "tree/time_math.hpp"

namespace tracelens {
namespace {

struct DtypeBytes {
  std::string_view name;
  double bytes;
};
constexpr DtypeBytes kDtypes[] = {{"Float", 4},    {"Int", 4},  {"Long", 8},
                                  {"BFloat16", 2}, {"Bool", 1}, {"Byte", 1},
                                  {"Double", 8},   {"Half", 2}, {"Short", 2}};

// The fields a row is grouped by, in column order, after `rank` and before `stream`.
struct Field {
  const char* name;
  const char* description;
};
constexpr Field kFields[] = {
    {"Process Group Name", "process group the collective ran in"},
    {"Process Group Ranks", "ranks of that group"},
    {"Collective name", "operation"},
    {"Group size", "number of ranks"},
    {"dtype", "element type"},
    {"In msg nelems", "elements each rank sends"},
    {"Out msg nelems", "elements each rank receives"},
    {"In split size", "elements sent to each rank, when uneven"},
    {"Out split size", "elements received from each rank, when uneven"},
};
constexpr std::size_t kGroupName = 0, kCollective = 2, kDtype = 4, kInElements = 5,
                      kOutElements = 6;
constexpr const char* kUnknownGroup = "Unknown_Group";

// What a kernel's arguments say; kernels with equal arguments share one.
struct Message {
  std::array<Value, std::size(kFields)> fields;
  Value stream;
};

// Lists become tuples, so that they print as the arguments of ops do.
Value as_tuple(const Value& value) {
  if (value.kind() != Value::Kind::kList) return value;
  return Value::tuple(value.items());
}

bool is_custom_allreduce(std::string_view name) {
  return io::contains_ignoring_case(name, "cross_device_reduce");
}

std::optional<double> megabytes(const Message& message, std::size_t elements) {
  const auto dtype =
      std::ranges::find(kDtypes, message.fields[kDtype].as_text(), &DtypeBytes::name);
  if (dtype == std::end(kDtypes) || !message.fields[kInElements].is_number() ||
      !message.fields[elements].is_number())
    return std::nullopt;
  return message.fields[elements].as_real() * dtype->bytes / (1024.0 * 1024.0);
}

struct Row {
  std::uint32_t message;
  std::int64_t dur_ns;
};

class Collectives {
 public:
  explicit Collectives(const Trace& trace) : trace_{trace} {
    GpuWorkKinds kinds{trace};
    const auto& details = trace.detail_texts();
    std::size_t detail = 0;
    for (std::uint32_t row = 0; row < trace.size(); ++row) {
      if (trace.categories()[row] != Category::kKernel || !kinds.is_communication({row})) continue;
      if (trace.correlations()[row] == kAbsent && !trace.external_ids().at({row})) continue;
      while (detail < details.rows().size() && details.rows()[detail] < row) ++detail;
      const bool has_details = detail < details.rows().size() && details.rows()[detail] == row;
      rows_.push_back({message({row}, has_details ? details.values()[detail] : StringId{}),
                       duration_of(trace, {row})});
    }
    name_groups();
  }
  [[nodiscard]] std::span<const Row> rows() const { return rows_; }
  [[nodiscard]] const Message& operator[](std::uint32_t message) const {
    return messages_[message];
  }

 private:
  std::uint32_t message(EventId event, StringId details) {
    const auto stream = trace_.streams().at(event);
    const std::uint32_t id =
        index_.id_of({details.row, trace_.names()[event.row].row,
                      static_cast<std::uint32_t>(stream.value_or(-1)), 0, 0, 0, 0, 0});
    if (id < messages_.size()) return id;
    Message message;
    const Value arguments = details.valid() ? trace_.details(event) : Value{};
    for (std::size_t i = 0; i < std::size(kFields); ++i)
      if (const Value* value = arguments.find(kFields[i].name))
        message.fields[i] = as_tuple(*value);
    if (message.fields[kCollective].is_null() && is_custom_allreduce(trace_.name(event)))
      message.fields[kCollective] = "allreduce";
    if (stream) message.stream = *stream;
    messages_.push_back(std::move(message));
    return id;
  }

  // A trace that names no group has one for all, as long as it uses a single stream.
  void name_groups() {
    bool any_named = false, many_streams = false;
    for (const Message& message : messages_) {
      const Value& name = message.fields[kGroupName];
      any_named |= !name.is_null() && !(name.is_text() && name.as_text() == kUnknownGroup);
      many_streams |= message.stream != messages_.front().stream;
    }
    for (Message& message : messages_) {
      Value& name = message.fields[kGroupName];
      if (!any_named && !many_streams)
        name = "all";
      else if (name.is_null())
        name = kUnknownGroup;
    }
  }

  const Trace& trace_;
  KeyIndex index_;
  std::vector<Message> messages_;
  std::vector<Row> rows_;
};

// Equal messages may come with different arguments we do not look at.
std::string text_of(const Message& message) {
  std::string text;
  for (const Value& field : message.fields) text += python_repr(field) + '\0';
  return text + python_repr(message.stream);
}

bool is_complete(const Message& message) {
  return std::ranges::none_of(message.fields, &Value::is_null) && !message.stream.is_null();
}

int compare(const Value& a, const Value& b) {
  if (a.is_null() || b.is_null())
    return static_cast<int>(a.is_null()) - static_cast<int>(b.is_null());
  if (a.is_number() && b.is_number())
    return static_cast<int>(b.as_real() < a.as_real()) -
           static_cast<int>(a.as_real() < b.as_real());
  return python_repr(a).compare(python_repr(b));
}

bool comes_before(const Message& a, const Message& b) {
  for (std::size_t i = 0; i < a.fields.size(); ++i)
    if (const int order = compare(a.fields[i], b.fields[i]); order != 0) return order < 0;
  return compare(a.stream, b.stream) < 0;
}

}  // namespace

std::optional<Table> coll_analysis(const Trace& trace, const CollectiveOptions& options) {
  const Collectives collectives{trace};
  struct Group {
    std::uint32_t message;
    std::int64_t sum_ns = 0;
    std::vector<std::int64_t> durations;
  };
  std::vector<Group> groups;
  std::unordered_map<std::string, std::size_t> by_text;
  std::unordered_map<std::uint32_t, std::size_t> by_message;
  for (const Row& row : collectives.rows()) {
    const Message& message = collectives[row.message];
    if (!options.keep_incomplete && !is_complete(message)) continue;
    const auto [known, is_new] = by_message.try_emplace(row.message);
    if (is_new) {
      const auto [entry, added] = by_text.try_emplace(text_of(message), groups.size());
      if (added) groups.push_back({row.message, 0, {}});
      known->second = entry->second;
    }
    Group& group = groups[known->second];
    group.sum_ns = plus_ns(group.sum_ns, row.dur_ns);
    group.durations.push_back(row.dur_ns);
  }
  if (groups.empty()) return std::nullopt;
  std::ranges::sort(groups, [&](const Group& a, const Group& b) {
    if (a.sum_ns != b.sum_ns) return a.sum_ns > b.sum_ns;
    return comes_before(collectives[a.message], collectives[b.message]);
  });

  std::vector<ColumnSpec> columns{{"rank", Kind::kInteger, "id", "always 0: one rank is read"}};
  for (const Field& field : kFields)
    columns.push_back({field.name, Kind::kNested, "", field.description});
  columns.insert(
      columns.end(),
      {{"stream", Kind::kNested, "id", "stream the kernel ran on"},
       {"In msg size (MB)_first", Kind::kReal, "MiB", "size of what each rank sends"},
       {"Out msg size (MB)_first", Kind::kReal, "MiB", "size of what each rank receives"},
       {"dur_sum", Kind::kReal, "µs", "time of all kernels of the group"},
       {"dur_mean", Kind::kReal, "µs", "mean"},
       {"dur_std", Kind::kReal, "µs", "standard deviation"},
       {"dur_min", Kind::kReal, "µs", "shortest"},
       {"dur_max", Kind::kReal, "µs", "longest"},
       {"operation_count", Kind::kInteger, "", "kernels in the group"}});
  Table table{"coll_analysis", "Collectives of this rank by group, operation and message size",
              columns};
  RowCells cells;
  for (Group& group : groups) {
    const Message& message = collectives[group.message];
    const GroupStats stats = stats_of_ns(group.durations);
    cells.clear();
    cells.add(std::int64_t{0});
    for (const Value& field : message.fields) cells.add(field);
    cells.add(message.stream);
    cells.add(megabytes(message, kInElements));
    cells.add(megabytes(message, kOutElements));
    cells.add(stats.sum);
    cells.add(stats.mean);
    cells.add(stats.std);
    cells.add(stats.min);
    cells.add(stats.max);
    cells.add(stats.count);
    table.append(cells.cells());
  }
  return table;
}

}  // namespace tracelens
