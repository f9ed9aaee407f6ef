// One function names the fields of each struct; a writer and a reader go through them alike.
#include "analysis/ranks/rank_bytes.hpp"

#include <cstring>
#include <optional>
#include <tracelens/table_text.hpp>
#include <type_traits>
#include <utility>

#include "analysis/ranks/byte_stream.hpp"
#include "trace/json_value.hpp"
#include "tree/time_math.hpp"

namespace tracelens {
namespace {

template <class T>
concept WholeNumber = std::is_integral_v<T>;
// What a rank has thousands of: written as differences from the one before.
template <class T>
concept Packed = std::is_same_v<T, CollectiveKernel> || std::is_same_v<T, RankActivity::Stretch>;
template <class T>
concept PlainData =
    std::is_trivially_copyable_v<T> && !std::is_pointer_v<T> && !WholeNumber<T> && !Packed<T>;

class Writer {
 public:
  template <WholeNumber T>
  void operator()(const T& value) {
    out_.number(static_cast<std::int64_t>(value));
  }
  template <PlainData T>
  void operator()(const T& value) {
    out_.plain(&value, sizeof value);
  }
  void operator()(const std::string& text) { out_.text(text); }
  void operator()(const Value& value) {
    std::string json;
    append_json(json, value);
    (*this)(json);
  }
  template <class T>
  void operator()(const std::optional<T>& value) {
    out_.count(value ? 1 : 0);
    if (value) (*this)(*value);
  }
  template <Packed T>
  void operator()(const std::vector<T>& items) {
    out_.count(items.size());
    T before = {};
    for (const T& item : items) pack(item, std::exchange(before, item));
  }
  template <PlainData T>
  void operator()(const std::vector<T>& items) {
    out_.count(items.size());
    out_.plain(items.data(), items.size() * sizeof(T));
  }
  template <class T>
  void operator()(const std::vector<T>& items) {
    out_.count(items.size());
    for (const T& item : items) (*this)(item);
  }
  template <class T>
  void operator()(const T& record) {
    visit(*this, record);
  }
  std::string take() { return out_.take(); }

 private:
  void pack(const CollectiveKernel& kernel, const CollectiveKernel& before) {
    out_.number(minus_ns(kernel.ts_ns, before.ts_ns));
    out_.number(kernel.dur_ns);
    out_.number(minus_ns(kernel.dur_ns, kernel.exposed_ns));
    out_.number(minus_ns(kernel.sequence, before.sequence));
    out_.number(minus_ns(kernel.peer, before.peer));
    out_.count(kernel.message);
    out_.count(kernel.op + 1);  // 0: none
  }
  void pack(const RankActivity::Stretch& stretch, const RankActivity::Stretch& before) {
    out_.number(minus_ns(stretch.start_ns, before.end_ns));
    out_.number(minus_ns(stretch.end_ns, stretch.start_ns));
    out_.count(stretch.what);
  }
  ByteWriter out_;
};

class Reader {
 public:
  explicit Reader(std::string_view bytes) : in_{bytes} {}
  template <WholeNumber T>
  void operator()(T& value) {
    value = static_cast<T>(in_.number());
  }
  template <PlainData T>
  void operator()(T& value) {
    std::memcpy(&value, in_.plain(sizeof value), sizeof value);
  }
  void operator()(std::string& text) { text = in_.text(); }
  void operator()(Value& value) { value = parse_json_value(in_.text()).value_or(Value{}); }
  template <class T>
  void operator()(std::optional<T>& value) {
    value.reset();
    if (in_.count() != 0) (*this)(value.emplace());
  }
  template <Packed T>
  void operator()(std::vector<T>& items) {
    items.resize(in_.length(3));
    T before = {};
    for (T& item : items) before = item = unpack(before);
  }
  template <PlainData T>
  void operator()(std::vector<T>& items) {
    items.resize(in_.length(sizeof(T)));
    if (!items.empty())
      std::memcpy(items.data(), in_.plain(items.size() * sizeof(T)), items.size() * sizeof(T));
  }
  template <class T>
  void operator()(std::vector<T>& items) {
    items.resize(in_.length());
    for (T& item : items) (*this)(item);
  }
  template <class T>
  void operator()(T& record) {
    visit(*this, record);
  }
  void end() const { in_.end(); }

 private:
  CollectiveKernel unpack(const CollectiveKernel& before) {
    CollectiveKernel kernel;
    kernel.ts_ns = plus_ns(before.ts_ns, in_.number());
    kernel.dur_ns = in_.number();
    kernel.exposed_ns = minus_ns(kernel.dur_ns, in_.number());
    kernel.sequence = plus_ns(before.sequence, in_.number());
    kernel.peer = plus_ns(before.peer, in_.number());
    kernel.message = in_.small_count();
    kernel.op = in_.small_count() - 1;
    return kernel;
  }
  RankActivity::Stretch unpack(const RankActivity::Stretch& before) {
    RankActivity::Stretch stretch;
    stretch.start_ns = plus_ns(before.end_ns, in_.number());
    stretch.end_ns = plus_ns(stretch.start_ns, in_.number());
    stretch.what = in_.small_count();
    return stretch;
  }
  ByteReader in_;
};

// `Record` is the struct itself, const for the writer.
template <class Archive, class Record>
void visit(Archive& archive, Record& record) {
  using T = std::remove_const_t<Record>;
  if constexpr (std::is_same_v<T, GroupMembers>) {
    archive(record.name);
    archive(record.ranks.runs);
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
    archive(record.part);
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
  std::size_t count = 0;
  reader(count);
  for (std::size_t i = 0; i < count; ++i) reader(ranks.emplace_back());
  reader.end();
  return ranks;
}

}  // namespace tracelens
