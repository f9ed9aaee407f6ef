// Walks down each process of `rocprofiler-sdk-tool` by keys; the long lists are parsed by all threads
// (record_list.hpp), the others taken one element at a time.
#include "readers/rocprof/rocprof.hpp"

#include <fmt/format.h>

#include <tracelens/error.hpp>
#include <vector>

#include "io/threads.hpp"
#include "readers/kit/room_estimate.hpp"
#include "readers/rocprof/columns.hpp"
#include "readers/rocprof/record_list.hpp"
#include "readers/rocprof/values.hpp"
#include "trace/json_value.hpp"

namespace tracelens {
namespace {

constexpr std::string_view kToolKey = "rocprofiler-sdk-tool";
// No run has so many; what is kept of a process must not outgrow the file.
constexpr std::size_t kMostProcesses = 1 << 16;

// Tells how far the read has come and, from what was read so far, sets memory aside for the rest.
class Progress {
 public:
  Progress(const io::Stream& source, const ReadOptions& options, TraceBuilder& builder)
      : source_{source}, options_{options}, builder_{builder}, room_{builder} {}

  void count(std::uint64_t byte) {  // of a record
    if ((++records_ & 0xfff) == 0) tell(source_.progress(), byte);
  }
  void tell(double progress, std::uint64_t byte) {
    if (options_.on_progress) options_.on_progress({progress, byte, builder_.size()});
    room_.estimate(progress);
  }

 private:
  const io::Stream& source_;
  const ReadOptions& options_;
  TraceBuilder& builder_;
  RoomEstimate room_;
  std::uint64_t records_ = 0;
};

class ProcessReader {
 public:
  ProcessReader(ValueStream& in, const io::Stream& source, const ReadOptions& options,
                TraceBuilder& builder, RocprofRun& run, Progress& progress)
      : in_{in},
        source_{source},
        options_{options},
        builder_{builder},
        run_{run},
        progress_{progress},
        columns_{builder, run} {}

  // False when the text ends, or stops being JSON, inside the process.
  bool read() {
    const std::uint64_t byte = in_.byte();
    run_.begin_process();
    const bool is_whole =
        for_each_member(in_, [this](std::string_view key) { return read_member(key); });
    if (has_records_) {
      columns_.finish();
      run_.end_process(columns_.process());
    } else {
      builder_.warnings().add("process without records", byte);
    }
    return is_whole;
  }
  [[nodiscard]] bool has_records() const { return has_records_; }

 private:
  bool read_member(std::string_view key) {
    if (key == "metadata") {
      const std::uint64_t byte = in_.byte();
      const auto value = parse_next();
      if (value) columns_.set_metadata(*value, byte);
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
    if (key == "counters" && in_.peek() == '[')
      return for_each_element(in_, [this] {
        const auto counter = parse_next();
        if (counter) columns_.counters().add_name(*counter);
        return counter.has_value();
      });
    if (key == "buffer_records" && in_.peek() == '{') {
      has_records_ = true;
      return for_each_member(in_, [this](std::string_view list) { return read_list(list); });
    }
    if (key == "callback_records" && in_.peek() == '{') {
      const bool is_whole =
          for_each_member(in_, [this](std::string_view list) { return read_callbacks(list); });
      columns_.counters_done();
      return is_whole;
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
    columns_.set_agents(std::move(agents));
    return is_whole;
  }

  bool read_list(std::string_view key) {
    const std::optional<RocprofList> list = list_of(key);
    if (in_.peek() != '[') return in_.skip();
    if (!list) return skip_list(key);
    RecordList records{in_, source_};
    const int threads = source_.threads_left_of(io::thread_count(options_.threads));
    return records.read(threads, [&](const RecordBatch& batch) {
      for (const RecordBatch::Element& element : batch.elements)
        if (element.is_sound)
          columns_.add(*list, element.record, element.byte);
        else
          builder_.warnings().add("record that is not a sound JSON object", element.byte);
      progress_.tell(batch.fraction, batch.elements.back().byte);
    });
  }

  bool read_callbacks(std::string_view key) {
    if (in_.peek() != '[') return in_.skip();
    if (key != "counter_collection") return skip_list(key);
    return for_each_element(in_, [this] {
      const std::uint64_t byte = in_.byte();
      const auto text = in_.value();
      if (!text) return false;
      RocprofCounts counts;
      if (!parse_rocprof_counts(*text, counts)) {
        builder_.warnings().add("record that is not a sound JSON object", byte);
        return true;
      }
      has_records_ = true;
      if (counts.unusable > 0)
        builder_.warnings().add("value of a hardware counter that is no number", byte,
                                counts.unusable);
      columns_.counters().add(std::move(counts), byte);
      progress_.count(byte);
      return true;
    });
  }

  // Samples are of no use to any table yet.
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
  const io::Stream& source_;
  const ReadOptions& options_;
  TraceBuilder& builder_;
  RocprofRun& run_;
  Progress& progress_;
  RocprofColumns columns_;
  bool has_records_ = false;
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
  RocprofRun run{builder};
  Progress progress{stream, options, builder};
  std::size_t processes = 0;
  bool has_list = false, has_records = false;
  const bool is_whole = for_each_member(in, [&](std::string_view key) {
    if (key != kToolKey || has_list || in.peek() != '[') return in.skip();
    has_list = true;
    return for_each_element(in, [&] {
      if (in.peek() != '{' || processes == kMostProcesses) {
        builder.warnings().add(in.peek() != '{' ? "element that is no process"
                                                : "process beyond the most that are read",
                               in.byte());
        return in.skip();
      }
      ++processes;
      ProcessReader process{in, stream, options, builder, run, progress};
      const bool is_process_whole = process.read();
      has_records = has_records || process.has_records();
      return is_process_whole;
    });
  });
  run.finish();
  const std::uint64_t stop = in.byte();
  in.drain();
  in.controls().add_to(builder.warnings());
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
  builder.source().recorder = Recorder::kRocprof;
  builder.source().text_bytes = in.byte();
  builder.source().packing = stream.packing();
  builder.source().packed_bytes = stream.packed_bytes();
  return std::move(builder).finish();
}

}  // namespace tracelens
