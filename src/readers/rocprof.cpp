// Walks down `rocprofiler-sdk-tool`[0] by keys; the long lists are taken one element at a time.
#include "readers/rocprof.hpp"

#include <fmt/format.h>

#include <tracelens/error.hpp>
#include <vector>

#include "readers/rocprof_columns.hpp"
#include "readers/rocprof_values.hpp"
#include "trace/json_value.hpp"

namespace tracelens {
namespace {

constexpr std::string_view kToolKey = "rocprofiler-sdk-tool";
constexpr double kEnoughToEstimate = 0.25;  // of the file, before memory is set aside for the rest

class ProcessReader {
 public:
  ProcessReader(ValueStream& in, TraceBuilder& builder, const io::Stream& source,
                const ReadOptions& options)
      : in_{in}, builder_{builder}, source_{source}, options_{options}, columns_{builder} {}

  // False when the text ends, or stops being JSON, inside the process.
  bool read() {
    const bool is_whole =
        for_each_member(in_, [this](std::string_view key) { return read_member(key); });
    columns_.finish();
    return is_whole;
  }
  [[nodiscard]] bool has_records() const { return has_records_; }

 private:
  bool read_member(std::string_view key) {
    if (key == "metadata") {
      const auto value = parse_next();
      if (value) columns_.set_metadata(*value);
      return value.has_value();
    }
    if (key == "strings") {
      const auto value = parse_next();
      if (value) columns_.set_strings(*value);
      return value.has_value();
    }
    if (key == "agents" && in_.peek() == '[') return read_agents();
    if (key == "kernel_symbols" && in_.peek() == '[') {
      const bool is_whole = for_each_element(in_, [this] {
        const auto symbol = parse_next();
        if (symbol) columns_.add_symbol(*symbol);
        return symbol.has_value();
      });
      columns_.symbols_done();
      return is_whole;
    }
    if (key == "buffer_records" && in_.peek() == '{') {
      has_records_ = true;
      return for_each_member(in_, [this](std::string_view list) { return read_list(list); });
    }
    return in_.skip();
  }

  // The value at hand as data; null when it is not sound. None when the text ends.
  std::optional<Value> parse_next() {
    const auto text = in_.value();
    if (!text) return std::nullopt;
    return parse_json_value(*text).value_or(Value{});
  }

  bool read_agents() {
    std::vector<Value> agents;
    const bool is_whole = for_each_element(in_, [&] {
      auto agent = parse_next();
      if (agent) agents.push_back(std::move(*agent));
      return agent.has_value();
    });
    columns_.set_agents(agents);
    return is_whole;
  }

  bool read_list(std::string_view key) {
    const std::optional<RocprofList> list = list_of(key);
    if (in_.peek() != '[') return in_.skip();
    if (!list) return skip_list(key);
    return for_each_element(in_, [&] {
      const std::uint64_t byte = in_.byte();
      const auto text = in_.value();
      if (!text) return false;
      RocprofRecord record;
      if (parse_rocprof_record(*text, record))
        columns_.add(*list, record, byte);
      else
        builder_.warnings().add("record that is not a sound JSON object", byte);
      if ((++records_ & 0xfff) == 0) report(byte);
      return true;
    });
  }

  void report(std::uint64_t byte) {
    const double progress = source_.progress();
    if (options_.on_progress) options_.on_progress({progress, byte, builder_.size()});
    if (has_reserved_ || progress < kEnoughToEstimate) return;
    has_reserved_ = true;
    builder_.reserve(
        static_cast<std::size_t>(static_cast<double>(builder_.size()) / progress * 1.15));
  }

  // Samples and counters are of no use to any table yet.
  bool skip_list(std::string_view key) {
    const std::uint64_t byte = in_.byte();
    std::uint64_t records = 0;
    const bool is_whole = for_each_element(in_, [&] {
      ++records;
      return in_.skip();
    });
    if (records > 0)
      builder_.warnings().add(fmt::format("{} records, which are not read", key), byte, records);
    return is_whole;
  }

  ValueStream& in_;
  TraceBuilder& builder_;
  const io::Stream& source_;
  const ReadOptions& options_;
  RocprofColumns columns_;
  std::uint64_t records_ = 0;
  bool has_records_ = false, has_reserved_ = false;
};

}  // namespace

bool is_rocprof(std::string_view head) {
  if (head.starts_with("\xEF\xBB\xBF")) head.remove_prefix(3);
  const std::size_t first = head.find_first_not_of(" \t\r\n");
  if (first == std::string_view::npos || head[first] != '{') return false;
  const std::string quoted = fmt::format("\"{}\"", kToolKey);
  const std::size_t key = head.find(quoted);
  if (key == std::string_view::npos) return false;
  const std::size_t colon = head.find_first_not_of(" \t\r\n", key + quoted.size());
  return colon != std::string_view::npos && head[colon] == ':';
}

Trace read_rocprof(io::Stream& stream, const ReadOptions& options) {
  TraceBuilder builder;
  ValueStream in{stream, options.block_bytes};
  in.take('\xEF') && in.take('\xBB') && in.take('\xBF');
  bool has_process = false, has_records = false;
  const bool is_whole = for_each_member(in, [&](std::string_view key) {
    if (key != kToolKey || has_process || in.peek() != '[') return in.skip();
    return for_each_element(in, [&] {
      if (has_process || in.peek() != '{') {
        builder.warnings().add("process after the first, which is not read", in.byte());
        return in.skip();
      }
      has_process = true;
      ProcessReader process{in, builder, stream, options};
      const bool is_process_whole = process.read();
      has_records = process.has_records();
      return is_process_whole;
    });
  });
  const std::uint64_t stop = in.byte();
  in.drain();
  if (!has_records)
    throw Error{
        stream.name(),
        is_whole ? fmt::format("no rocprofv3 results: \"{}\" has no \"buffer_records\"", kToolKey)
                 : fmt::format("the file ends, or stops being JSON, at byte {} before its "
                               "records (\"buffer_records\") begin",
                               stop)};
  if (!is_whole) {
    builder.warnings().add("file ends, or stops being JSON, before its records do", stop);
    builder.source().cut_short = true;
  }
  if (!stream.damage().empty()) {
    builder.warnings().add(stream.damage(), in.byte());
    builder.source().cut_short = true;
  }
  builder.source().name = stream.name();
  builder.source().format = "rocprof";
  builder.source().text_bytes = in.byte();
  builder.source().packing = stream.packing();
  builder.source().packed_bytes = stream.packed_bytes();
  return std::move(builder).finish();
}

}  // namespace tracelens
