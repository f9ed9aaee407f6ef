// repeat_trace.cpp: makes a long trace from a short one by repeating it in time.
//   repeat_trace step.json.gz long.json.gz --min-bytes 200M --min-events 400k
// Every copy starts where the one before ended, and its ids (correlation, flows, sequence numbers,
// Python frames, steps) are its own, so the result is as large a recording of the same job would
// have been. All other text is kept byte by byte. Prints one line of JSON about the result.
#include <fmt/format.h>
#include <simdjson.h>
#include <zlib.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <array>
#include <charconv>
#include <cstdint>
#include <cstdio>
#include <exception>
#include <limits>
#include <memory>
#include <stdexcept>
#include <string>
#include <string_view>
#include <vector>

namespace {

using simdjson::ondemand::json_type;

// Numbers of one kind move by the same stride per copy, so that equal ids stay equal within a copy.
enum class Kind : std::uint8_t { kTime, kLaunch, kSequence, kRecord, kIndex, kPython, kStep };
constexpr std::size_t kKinds = 7;

struct ArgKind {
  std::string_view key;
  Kind kind;
};
// Flow ids of launches equal the correlation (or, in old traces, the external id): one kind.
constexpr ArgKind kArgKinds[] = {
    {"correlation", Kind::kLaunch},
    {"External id", Kind::kLaunch},
    {"Sequence number", Kind::kSequence},
    {"Record function id", Kind::kRecord},
    {"Ev Idx", Kind::kIndex},
    {"Python id", Kind::kPython},
    {"Python parent id", Kind::kPython},
};
constexpr std::string_view kStepName = "ProfilerStep#";

// A whole number in the source text that differs from copy to copy. For times it is the part
// before the decimal point: copies are whole microseconds apart, so the fraction never changes.
struct Patch {
  std::size_t at;
  std::size_t length;
  std::int64_t value;
  Kind kind;
};

struct Event {
  std::size_t begin, end;  // the object's braces
  std::size_t first_patch, last_patch;
  bool is_metadata;  // names of processes and threads: written once, not per copy
};

struct Recording {
  std::string_view text;
  std::vector<Event> events;
  std::vector<Patch> patches;
  std::array<std::int64_t, kKinds> stride{};

  [[nodiscard]] std::string_view head() const { return text.substr(0, events.front().begin); }
  [[nodiscard]] std::string_view tail() const { return text.substr(events.back().end); }
  [[nodiscard]] std::string_view separator() const {
    return events.size() > 1 ? text.substr(events[0].end, events[1].begin - events[0].end)
                             : std::string_view{",\n"};
  }
};

struct GzClose {
  void operator()(gzFile file) const { gzclose(file); }
};
using GzHandle = std::unique_ptr<gzFile_s, GzClose>;

std::string read_text(const std::string& path) {  // zlib also passes plain text through
  const GzHandle file{gzopen(path.c_str(), "rb")};
  if (!file) throw std::runtime_error{path + ": cannot be opened"};
  std::string text;
  std::string chunk(std::size_t{1} << 20, '\0');
  for (int got = 1; got > 0;) {
    got = gzread(file.get(), chunk.data(), static_cast<unsigned>(chunk.size()));
    if (got < 0) throw std::runtime_error{path + ": damaged gzip stream"};
    text.append(chunk, 0, static_cast<std::size_t>(got));
  }
  return text;
}

// Collects what has to change, in the order of the text, from one walk over the events.
class Scanner {
 public:
  explicit Scanner(std::string_view text) { recording_.text = text; }

  void add(simdjson::ondemand::object object) {
    const std::string_view span = object.raw_json();
    object.reset();
    Event event{offset(span.data()), offset(span.data() + span.size()), recording_.patches.size(),
                0, false};
    bool has_time = false;
    double ts = 0, dur = 0;
    for (auto field : object) {
      const std::string_view key = field.unescaped_key();
      simdjson::ondemand::value value = field.value();
      if (key == "args" && value.type() == json_type::object) {
        add_args(value.get_object());
      } else if (key == "id") {
        add_id(value, Kind::kLaunch);
      } else if (key == "ph") {
        event.is_metadata = value.get_string().value() == "M";
      } else if (key == "ts" && value.type() == json_type::number) {
        add_time(value.raw_json_token());
        ts = value.get_double();
        has_time = true;
      } else if (key == "dur" && value.type() == json_type::number) {
        dur = value.get_double();
      } else if (key == "name" && value.type() == json_type::string) {
        add_step(value.raw_json_token());
      }
    }
    event.last_patch = recording_.patches.size();
    recording_.events.push_back(event);
    if (has_time && !event.is_metadata) {
      first_us_ = std::min(first_us_, ts);
      last_us_ = std::max(last_us_, ts + dur);
    }
  }

  Recording finish() {
    if (recording_.events.empty()) throw std::runtime_error{"the trace has no events to repeat"};
    for (const Patch& patch : recording_.patches) {
      auto& stride = recording_.stride[static_cast<std::size_t>(patch.kind)];
      stride = std::max(stride, patch.value + 1);
    }
    // A copy starts on the next whole microsecond after the last event of the one before.
    recording_.stride[static_cast<std::size_t>(Kind::kTime)] =
        first_us_ < last_us_ ? static_cast<std::int64_t>(last_us_ - first_us_) + 2 : 1;
    return std::move(recording_);
  }

 private:
  [[nodiscard]] std::size_t offset(const char* place) const {
    return static_cast<std::size_t>(place - recording_.text.data());
  }

  void add_args(simdjson::ondemand::object args) {
    for (auto field : args) {
      const std::string_view key = field.unescaped_key();
      for (const ArgKind& arg : kArgKinds)
        if (key == arg.key) add_id(field.value(), arg.kind);
    }
  }

  // 0 means "none" for launches and records, and stays; the other kinds count from 0.
  void add_id(simdjson::ondemand::value value, Kind kind) {
    if (value.type() != json_type::number) return;
    const std::string_view token = value.raw_json_token();
    std::int64_t id = 0;
    if (value.get_int64().get(id) != simdjson::SUCCESS || id < 0) return;
    if (id == 0 && (kind == Kind::kLaunch || kind == Kind::kRecord)) return;
    add_patch(token, id, kind);
  }

  void add_time(std::string_view token) {
    std::int64_t whole = 0;
    const auto [end, error] = std::from_chars(token.data(), token.data() + token.size(), whole);
    const bool is_plain = error == std::errc{} && token.front() != '-' &&
                          token.find_first_of("eE") == std::string_view::npos;
    if (!is_plain) throw std::runtime_error{fmt::format("cannot shift the time {}", token)};
    add_patch(token.substr(0, static_cast<std::size_t>(end - token.data())), whole, Kind::kTime);
  }

  void add_step(std::string_view token) {  // token: with its quotes
    if (token.substr(1, kStepName.size()) != kStepName) return;
    const std::string_view digits = token.substr(1 + kStepName.size());
    std::int64_t step = 0;
    const auto [end, error] = std::from_chars(digits.data(), digits.data() + digits.size(), step);
    if (error == std::errc{})
      add_patch(digits.substr(0, static_cast<std::size_t>(end - digits.data())), step, Kind::kStep);
  }

  void add_patch(std::string_view token, std::int64_t value, Kind kind) {
    const std::size_t length = std::min(token.size(), token.find_first_not_of("0123456789"));
    recording_.patches.push_back({offset(token.data()), length, value, kind});
  }

  Recording recording_;
  double first_us_ = std::numeric_limits<double>::max(), last_us_ = 0;
};

Recording scan(const simdjson::padded_string& text) {
  simdjson::ondemand::parser parser;
  simdjson::ondemand::document document = parser.iterate(text);
  Scanner scanner{std::string_view{text}};
  simdjson::ondemand::array events = document.type() == json_type::array
                                         ? document.get_array()
                                         : document["traceEvents"].get_array();
  for (auto event : events) scanner.add(event.get_object());
  return scanner.finish();
}

class Writer {
 public:
  Writer(const std::string& path, int level)
      : path_{path}, file_{gzopen(path.c_str(), mode(path, level).c_str())} {
    if (!file_) throw std::runtime_error{path + ": cannot be written"};
    gzbuffer(file_.get(), 1 << 18);
  }
  void write(std::string_view text) {
    buffer_.append(text);
    if (buffer_.size() >= kFlushBytes) flush();
  }
  void write(std::int64_t number) { write(fmt::format_int{number}.c_str()); }
  std::uint64_t finish() {  // returns the bytes of text
    flush();
    if (gzclose(file_.release()) != Z_OK) throw std::runtime_error{path_ + ": disk full?"};
    return bytes_;
  }

 private:
  static constexpr std::size_t kFlushBytes = std::size_t{1} << 20;

  static std::string mode(const std::string& path, int level) {  // T: as it is, no compression
    return path.ends_with(".gz") ? fmt::format("wb{}", level) : "wbT";
  }
  void flush() {
    if (buffer_.empty()) return;
    if (gzwrite(file_.get(), buffer_.data(), static_cast<unsigned>(buffer_.size())) <= 0)
      throw std::runtime_error{path_ + ": disk full?"};
    bytes_ += buffer_.size();
    buffer_.clear();
  }

  std::string path_, buffer_;
  GzHandle file_;
  std::uint64_t bytes_ = 0;
};

void write_event(const Recording& recording, const Event& event, std::int64_t copy, Writer& out) {
  std::size_t done = event.begin;
  for (std::size_t i = event.first_patch; i < event.last_patch; ++i) {
    const Patch& patch = recording.patches[i];
    out.write(recording.text.substr(done, patch.at - done));
    out.write(patch.value + copy * recording.stride[static_cast<std::size_t>(patch.kind)]);
    done = patch.at + patch.length;
  }
  out.write(recording.text.substr(done, event.end - done));
}

struct Options {
  std::string input, output;
  std::int64_t copies = 0;
  std::uint64_t min_bytes = 0, min_events = 0;
  int level = 6;
};

// The metadata is not repeated, so a copy is counted without it.
std::int64_t copies_for(const Recording& recording, const Options& options) {
  std::uint64_t bytes = 0, events = 0;
  for (const Event& event : recording.events) {
    if (event.is_metadata) continue;
    bytes += event.end - event.begin + recording.separator().size();
    ++events;
  }
  if (events == 0) throw std::runtime_error{"the trace has nothing but metadata"};
  const std::uint64_t copies = std::max({std::uint64_t{1}, (options.min_bytes + bytes - 1) / bytes,
                                         (options.min_events + events - 1) / events});
  return std::max(options.copies, static_cast<std::int64_t>(copies));
}

void repeat(const Options& options) {
  const simdjson::padded_string text{read_text(options.input)};
  const Recording recording = scan(text);
  const std::int64_t copies = copies_for(recording, options);
  Writer out{options.output, options.level};
  out.write(recording.head());
  std::uint64_t events = 0;
  for (std::int64_t copy = 0; copy < copies; ++copy) {
    for (const Event& event : recording.events) {
      if (copy > 0 && event.is_metadata) continue;
      if (events++ > 0) out.write(recording.separator());
      write_event(recording, event, copy, out);
    }
  }
  out.write(recording.tail());
  fmt::print("{{\"copies\": {}, \"events\": {}, \"bytes\": {}}}\n", copies, events, out.finish());
}

}  // namespace

int main(int argc, char** argv) {
  Options options;
  CLI::App app{"Makes a long trace from a short one by repeating it in time"};
  app.add_option("input", options.input, "Kineto trace, plain or gzip")->required();
  app.add_option("output", options.output, "trace to write: .json or .json.gz")->required();
  app.add_option("--copies", options.copies, "at least this many copies");
  app.add_option("--min-bytes", options.min_bytes, "at least this much text, e.g. 200M")
      ->transform(CLI::AsSizeValue{true});
  app.add_option("--min-events", options.min_events, "at least this many events, e.g. 400k")
      ->transform(CLI::AsSizeValue{true});
  app.add_option("--level", options.level, "gzip level")->check(CLI::Range(1, 9));
  CLI11_PARSE(app, argc, argv);
  try {
    repeat(options);
  } catch (const std::exception& error) {
    fmt::print(stderr, "repeat_trace: {}\n", error.what());
    return 2;
  }
  return 0;
}
