// One function names the fields of each struct; a writer and a reader go through them alike.
#include "analysis/ranks/rank_bytes.hpp"

#include <cstring>
#include <optional>
#include <tracelens/error.hpp>
#include <tracelens/table_text.hpp>
#include <type_traits>

#include "trace/json_value.hpp"

namespace tracelens {
namespace {

template <class T>
concept PlainData = std::is_trivially_copyable_v<T> && !std::is_pointer_v<T>;

class Writer {
 public:
  template <PlainData T>
  void operator()(const T& value) {
    bytes_.append(reinterpret_cast<const char*>(&value), sizeof value);
  }
  void operator()(const std::string& text) {
    (*this)(text.size());
    bytes_.append(text);
  }
  void operator()(const Value& value) {
    std::string json;
    append_json(json, value);
    (*this)(json);
  }
  template <PlainData T>
  void operator()(const std::vector<T>& items) {
    (*this)(items.size());
    bytes_.append(reinterpret_cast<const char*>(items.data()), items.size() * sizeof(T));
  }
  template <class T>
  void operator()(const std::vector<T>& items) {
    (*this)(items.size());
    for (const T& item : items) (*this)(item);
  }
  template <class T>
  void operator()(const T& record) {
    visit(*this, record);
  }
  std::string take() { return std::move(bytes_); }

 private:
  std::string bytes_;
};

class Reader {
 public:
  explicit Reader(std::string_view bytes) : rest_{bytes} {}
  template <PlainData T>
  void operator()(T& value) {
    std::memcpy(&value, take(sizeof value), sizeof value);
  }
  void operator()(std::string& text) {
    const std::size_t size = length(1);
    text.assign(take(size), size);
  }
  void operator()(Value& value) {
    std::string json;
    (*this)(json);
    value = parse_json_value(json).value_or(Value{});
  }
  template <PlainData T>
  void operator()(std::vector<T>& items) {
    items.resize(length(sizeof(T)));
    if (!items.empty())
      std::memcpy(items.data(), take(items.size() * sizeof(T)), items.size() * sizeof(T));
  }
  template <class T>
  void operator()(std::vector<T>& items) {
    items.resize(length(1));
    for (T& item : items) (*this)(item);
  }
  template <class T>
  void operator()(T& record) {
    visit(*this, record);
  }
  [[nodiscard]] bool is_done() const { return rest_.empty(); }

 private:
  const char* take(std::size_t size) {
    if (size > rest_.size()) throw Error{"rank summaries", "the bytes of another process are cut"};
    const char* const at = rest_.data();
    rest_.remove_prefix(size);
    return at;
  }
  // A number of items of at least `item` bytes each: never more than there is text for.
  std::size_t length(std::size_t item) {
    std::size_t count = 0;
    (*this)(count);
    if (count > rest_.size() / item)
      throw Error{"rank summaries", "the bytes of another process are damaged"};
    return count;
  }
  std::string_view rest_;
};

// `Record` is the struct itself, const for the writer.
template <class Archive, class Record>
void visit(Archive& archive, Record& record) {
  using T = std::remove_const_t<Record>;
  if constexpr (std::is_same_v<T, GroupMembers>) {
    archive(record.name);
    archive(record.ranks);
  } else if constexpr (std::is_same_v<T, CollectiveMessage>) {
    for (auto& field : record.fields) archive(field);
    archive(record.stream);
  } else if constexpr (std::is_same_v<T, RankActivity>) {
    archive(record.stretches);
    archive(record.texts);
  } else if constexpr (std::is_same_v<T, RankLane>) {
    archive(record.origin_ns);
    archive(record.lane.rows);
    for (auto* number : {&record.lane.events, &record.lane.busy_ns, &record.lane.longest_gap_ns,
                         &record.lane.merged_below_ns, &record.lane.gap_ns})
      archive(*number);
    archive(record.lane.slices);
    archive(record.lane.runs);
    archive(record.names);
  } else if constexpr (std::is_same_v<T, RankStep>) {
    archive(record.name);
    for (auto* ns : {&record.total_ns, &record.computation_ns, &record.exposed_comm_ns,
                     &record.exposed_copy_ns, &record.idle_ns, &record.comm_ns, &record.copy_ns})
      archive(*ns);
  } else {
    static_assert(std::is_same_v<T, RankTrace>);
    archive(record.rank);
    archive(record.source);
    archive(record.gpu);
    for (auto* text : {&record.file, &record.format, &record.problem, &record.device_name})
      archive(*text);
    archive(record.warnings);
    for (auto* number : {&record.declared_rank, &record.world_size, &record.device_count})
      archive(*number);
    archive(record.base_ns);
    archive(record.groups);
    archive(record.events);
    archive(record.text_bytes);
    archive(record.messages);
    archive(record.kernels);
    archive(record.ops);
    archive(record.unlinked_kernels);
    archive(record.activity);
    archive(record.steps);
    archive(record.lane);
  }
}

}  // namespace

std::string to_bytes(std::span<const RankTrace> ranks) {
  Writer writer;
  writer(ranks.size());
  for (const RankTrace& rank : ranks) writer(rank);
  return writer.take();
}

std::vector<RankTrace> ranks_from_bytes(std::string_view bytes) {
  Reader reader{bytes};
  std::vector<RankTrace> ranks;
  reader(ranks);
  if (!reader.is_done()) throw Error{"rank summaries", "the bytes of another process are damaged"};
  return ranks;
}

}  // namespace tracelens
