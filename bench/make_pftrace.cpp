// make_pftrace OUT.pftrace --bytes 2000000000 [--era 3] [--counters 2]: a synthetic Perfetto trace
// of any size, as rocprofv3 writes them: one sequence, interned names, one domain after the other,
// each record a begin and an end. Threads launch kernels on two GPUs with four streams each; some
// copies. Prints what it wrote as JSON. The same arguments give the same bytes.
#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <bit>
#include <cstdint>
#include <cstdio>
#include <fstream>
#include <initializer_list>
#include <string>
#include <string_view>
#include <vector>

namespace {

// A protobuf message under construction.
class Message {
 public:
  Message& number(std::uint32_t field, std::uint64_t value) {
    varint(field << 3);
    varint(value);
    return *this;
  }
  Message& real(std::uint32_t field, double value) {
    return fixed(field, std::bit_cast<std::uint64_t>(value));
  }
  Message& fixed(std::uint32_t field, std::uint64_t value) {
    varint(field << 3 | 1);
    for (int shift = 0; shift < 64; shift += 8) bytes_ += static_cast<char>(value >> shift & 0xff);
    return *this;
  }
  Message& text(std::uint32_t field, std::string_view value) {
    varint(field << 3 | 2);
    varint(value.size());
    bytes_ += value;
    return *this;
  }
  Message& message(std::uint32_t field, const Message& value) { return text(field, value.bytes_); }
  [[nodiscard]] const std::string& bytes() const { return bytes_; }

 private:
  void varint(std::uint64_t value) {
    for (; value > 0x7f; value >>= 7) bytes_ += static_cast<char>(value | 0x80);
    bytes_ += static_cast<char>(value);
  }
  std::string bytes_;
};

// Field numbers of Perfetto's packets; see src/readers/perfetto.proto.
enum Packet : std::uint32_t {
  kClockSnapshot = 6,
  kTimestamp = 8,
  kSequence = 10,
  kTrackEvent = 11,
  kInternedData = 12,
  kFlags = 13,
  kClockId = 58,
  kDefaults = 59,
  kTrackDescriptor = 60,
};
enum Interned : std::uint32_t { kCategories = 1, kNames = 2, kAnnotationNames = 3 };

constexpr std::uint64_t kBoottime = 6, kProcess = 0x1234567890abcdef;
constexpr std::uint64_t kPid = 4242, kSequenceId = 2;
constexpr std::uint64_t kStart = 63'855'948'165'371;

struct Argument {
  std::uint64_t name;   // interned
  std::uint64_t value;  // or, when `text` is not empty, the text
  std::string_view text = {};
};

class Writer {
 public:
  Writer(const std::string& path, int era, int counters)
      : out_{path, std::ios::binary}, era_{era}, counters_{counters} {
    if (!out_) throw std::runtime_error{path + ": cannot be written"};
  }

  void start() {
    const auto clock = [](std::uint64_t id, std::uint64_t ns) {
      return Message{}.number(1, id).number(2, ns);
    };
    packet(Message{}.message(
        kClockSnapshot,
        Message{}.message(1, clock(kBoottime, kStart)).message(1, clock(3, kStart - 250'000))));
    const Message process = Message{}.number(1, kPid).text(6, "/opt/venv/bin/python3");
    const Message thread = Message{}.number(1, kPid).number(2, kPid).text(5, "python3");
    packet(Message{}.number(kFlags, 1).message(kTrackDescriptor,
                                               Message{}.number(1, kProcess).message(3, process)));
    packet(Message{}.message(
        kTrackDescriptor,
        Message{}.number(1, kPid ^ kProcess).number(5, kProcess).message(4, thread)));
    Message interned;
    const auto add = [&](std::uint32_t table, std::initializer_list<std::string_view> names) {
      std::uint64_t iid = 0;
      for (const std::string_view name : names)
        interned.message(table, Message{}.number(1, ++iid).text(2, name));
    };
    add(kCategories, {"hip_api", "kernel_dispatch", "memory_copy"});
    add(kAnnotationNames, {"begin_ns",
                           "end_ns",
                           "delta_ns",
                           "tid",
                           "kind",
                           "operation",
                           "corr_id",
                           "stream_ID",
                           "agent",
                           "queue",
                           "kernel_id",
                           "workgroup_size",
                           "grid_size",
                           "VGPR_Count",
                           "SGPR_Count",
                           "LDS_Block_Size",
                           "Scratch_Size",
                           "Accum_VGPR_Count",
                           "src_agent",
                           "dst_agent",
                           "copy_bytes",
                           "private_segment_size",
                           "group_segment_size"});
    std::uint64_t iid = 0;
    const auto add_name = [&](const std::string& name) {
      interned.message(kNames, Message{}.number(1, ++iid).text(2, name));
    };
    add_name("hipLaunchKernel");
    add_name("MEMORY_COPY_HOST_TO_DEVICE");
    for (int i = 0; i < kKernels; ++i)
      add_name(fmt::format("Cijk_Ailk_Bjlk_BBS_BH_MT{}x{}x64_SN.kd", 16 * (i % 16 + 1), 16 + i));
    packet(Message{}.message(kInternedData, interned));
    for (std::uint64_t stream = 0; stream < kStreams; ++stream)
      packet(Message{}.message(
          kTrackDescriptor,
          Message{}.number(1, track(stream)).number(5, kProcess).text(2, track_name(stream))));
  }

  // `launches` kernel launches, from `first` on: first all API calls, then all kernels.
  void launches(std::uint64_t first, std::uint64_t count) {
    for (std::uint64_t i = first; i < first + count; ++i) {
      const std::uint64_t begin = kStart + i * 10'000, length = 4'000 + i * 7919 % 3'000;
      slice(kPid ^ kProcess, 1, 1, begin, length, i,
            {{4, kPid}, {5, 21}, {6, 214}, {7, i}, {8, i % kStreams}});
    }
    for (std::uint64_t i = first; i < first + count; ++i) {
      const std::uint64_t begin = kStart + i * 10'000 + 7'000, length = 5'000 + i * 104'729 % 9'000;
      if (i % 16 == 0)
        slice(track(i % kStreams), 3, 2, begin, length, i,
              {{19, 0, "Agent-0"},
               {20, 0, agent(i)},
               {21, std::uint64_t{4096} << i % 8},
               {7, i},
               {4, kPid}});
      else
        kernel(i, begin, length);
    }
  }

  [[nodiscard]] std::uint64_t bytes() const { return written_; }
  [[nodiscard]] std::uint64_t slices() const { return slices_; }

  void finish() {
    flush();
    if (!out_.flush()) throw std::runtime_error{"the trace cannot be written"};
  }

 private:
  static constexpr std::uint64_t kStreams = 8, kKernelCategory = 2;
  static constexpr int kKernels = 64;

  static std::uint64_t track(std::uint64_t stream) { return (0xaaaa + stream) ^ kProcess; }
  static std::string_view agent(std::uint64_t i) { return i % 2 == 0 ? "Agent-2" : "Agent-3"; }
  [[nodiscard]] std::string track_name(std::uint64_t stream) const {
    if (era_ == 1)
      return fmt::format("COMPUTE AGENT [{}] QUEUE [{}] (GPU)", 2 + stream % 2, stream);
    if (era_ == 2)
      return fmt::format("COMPUTE AGENT [{}] STREAM [{}] (GPU)", 2 + stream % 2, stream);
    return fmt::format("STREAM [\" {} \"] ", stream);
  }

  void kernel(std::uint64_t i, std::uint64_t begin, std::uint64_t length) {
    std::vector<Argument> arguments{{5, 11}, {7, i}, {10, i % 4}, {4, kPid}, {11, i % kKernels}};
    arguments.push_back(era_ == 1 ? Argument{9, 2 + i % 2} : Argument{9, 0, agent(i)});
    if (era_ == 3)
      arguments.insert(arguments.end(), {{17, 0}, {16, 512}, {14, 16}, {18, 0}, {15, 48}});
    else
      arguments.insert(arguments.end(), {{22, 0}, {23, 512}});
    arguments.insert(arguments.end(), {{12, 256}, {13, std::uint64_t{256} << i % 12}});
    if (era_ == 3) arguments.push_back({8, i % kStreams});
    slice(track(i % kStreams), kKernelCategory, 3 + i % kKernels, begin, length, i, arguments);
  }

  void slice(std::uint64_t track, std::uint64_t category, std::uint64_t name, std::uint64_t begin,
             std::uint64_t length, std::uint64_t flow, const std::vector<Argument>& arguments) {
    Message event;
    event.number(3, category);
    const auto annotate = [&](const Argument& argument) {
      Message annotation;
      annotation.number(1, argument.name);
      if (argument.text.empty())
        annotation.number(3, argument.value);
      else
        annotation.text(6, argument.text);
      event.message(4, annotation);
    };
    for (const Argument& time : {Argument{1, begin}, {2, begin + length}, {3, length}})
      annotate(time);
    for (const Argument& argument : arguments) annotate(argument);
    if (category == kKernelCategory)  // hardware counters: names are not interned
      for (int i = 0; i < counters_; ++i)
        event.message(4, Message{}
                             .text(10, fmt::format("SQ_COUNTER_{}", i))
                             .real(5, static_cast<double>(begin % 1'000'003 * length) + 0.5));
    event.number(9, 1).number(10, name).number(11, track).fixed(47, flow ^ kProcess);
    packet(Message{}
               .number(kTimestamp, begin)
               .number(kClockId, kBoottime)
               .message(kTrackEvent, event));
    packet(Message{}
               .number(kTimestamp, begin + length)
               .number(kClockId, kBoottime)
               .message(kTrackEvent, Message{}.number(9, 2).number(11, track)));
    ++slices_;
  }

  void packet(Message content) {
    content.number(kSequence, kSequenceId);
    buffer_ += Message{}.message(1, content).bytes();
    if (buffer_.size() > (1 << 20)) flush();
  }
  void flush() {
    out_.write(buffer_.data(), static_cast<std::streamsize>(buffer_.size()));
    written_ += buffer_.size();
    buffer_.clear();
  }

  std::ofstream out_;
  int era_, counters_;
  std::string buffer_;
  std::uint64_t written_ = 0, slices_ = 0;
};

}  // namespace

int main(int argc, char** argv) {
  CLI::App app{"Writes a synthetic Perfetto trace as rocprofv3 would."};
  std::string path;
  std::uint64_t bytes = 200'000'000;
  int era = 3, counters = 0;
  app.add_option("out", path, "The .pftrace to write")->required();
  app.add_option("--bytes", bytes, "Write at least so many bytes")->capture_default_str();
  app.add_option("--era", era, "Layout of rocprofv3: 1 (ROCm 6.2), 2 (6.4) or 3 (7)")
      ->check(CLI::Range(1, 3))
      ->capture_default_str();
  app.add_option("--counters", counters, "Hardware counters per kernel")->check(CLI::Range(0, 64));
  CLI11_PARSE(app, argc, argv);
  try {
    constexpr std::uint64_t kLaunchesPerRound = 100'000;
    Writer writer{path, era, counters};
    writer.start();
    for (std::uint64_t first = 1; writer.bytes() < bytes; first += kLaunchesPerRound)
      writer.launches(first, kLaunchesPerRound);
    writer.finish();
    fmt::print("{{\"bytes\": {}, \"slices\": {}}}\n", writer.bytes(), writer.slices());
  } catch (const std::exception& error) {
    fmt::print(stderr, "make_pftrace: {}\n", error.what());
    return 2;
  }
  return 0;
}
