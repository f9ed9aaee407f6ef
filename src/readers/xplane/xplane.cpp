#include "readers/xplane/xplane.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstdlib>
#include <new>
#include <optional>
#include <span>
#include <tracelens/error.hpp>
#include <tracelens/trace_builder.hpp>
#include <utility>
#include <vector>

#include "io/threads.hpp"
#include "readers/kit/ordered_work.hpp"
#include "readers/xplane/device.hpp"
#include "readers/xplane/folder.hpp"
#include "readers/xplane/host.hpp"
#include "readers/xplane/modules.hpp"
#include "readers/xplane/plane.hpp"

namespace tracelens {
namespace {

using xplane::DeviceReader;
using xplane::HostHints;
using xplane::Key;
using xplane::Modules;
using xplane::Pages;
using xplane::Plane;
using xplane::Stat;

constexpr std::int64_t kHostPid = 701, kFirstGpuPid = 1, kPidsPerHost = 1000;
constexpr std::string_view kGpuPrefix = "/device:GPU:";

// A plane may have any id: one that leads out of range comes around.
std::int64_t gpu_pid(std::int64_t first_pid, std::int64_t id) {
  return static_cast<std::int64_t>(static_cast<std::uint64_t>(first_pid + kFirstGpuPid) +
                                   static_cast<std::uint64_t>(id));
}

// Bytes that grow without being copied: large blocks of memory are moved by the system.
class GrowingBytes {
 public:
  GrowingBytes() = default;
  GrowingBytes(const GrowingBytes&) = delete;
  GrowingBytes& operator=(const GrowingBytes&) = delete;
  ~GrowingBytes() { std::free(start_); }
  void grow_to(std::size_t size) {
    void* const larger = std::realloc(start_, size);
    if (larger == nullptr) throw std::bad_alloc{};
    start_ = static_cast<char*>(larger);
    size_ = size;
  }
  [[nodiscard]] std::span<char> from(std::size_t offset) {
    return {start_ + offset, size_ - offset};
  }
  [[nodiscard]] std::string_view first(std::size_t count) const { return {start_, count}; }

 private:
  char* start_ = nullptr;
  std::size_t size_ = 0;
};

// The whole text: a mapped file as it is, anything else in memory. Names stand behind the events
// they are for, so that a profile cannot be read as it streams by.
std::string_view all_bytes(io::Stream& in, GrowingBytes& buffer) {
  if (const auto mapped = in.map()) return *mapped;
  // A profile shrinks to a third or a tenth by packing; what unpacks to much more is made to fill
  // the memory.
  constexpr std::uint64_t kMostTimes = 200, kAlwaysFine = 64 << 20;
  constexpr std::size_t kBlock = std::size_t{1} << 20;
  std::size_t size = 0;
  while (true) {
    buffer.grow_to(size + std::max(kBlock, size / 8));
    const std::size_t got = in.read(buffer.from(size));
    if (got == 0) return buffer.first(size);
    size += got;
    if (size > kAlwaysFine && size / kMostTimes > in.packed_bytes())
      throw Error{in.name(), fmt::format("unpacks to more than {} times its size, which no profile "
                                         "does; if it is one, unpack it first",
                                         kMostTimes)};
  }
}

std::string_view host_of(std::string_view file) {
  file = file.substr(file.find_last_of('/') + 1);
  return file.substr(0, file.find(".xplane.pb"));
}

// "jit_step(9285)" -> jit_step, 9285; the id stands in a value of its own or is the entry's key.
void add_modules(const Plane& plane, Modules& modules) {
  for (const auto& [key, kind] : plane.kinds()) {
    std::string_view proto;
    std::int64_t id = key;
    for (const Stat& stat : kind.stats) {
      if (plane.key(stat) == Key::kHloProto && stat.kind == Stat::Kind::kBytes) proto = stat.bytes;
      if (plane.key(stat) == Key::kProgramId) id = stat.integer().value_or(id);
    }
    const std::string_view name = kind.name;
    modules.add(id, name.substr(0, name.rfind('(')), proto);
  }
}

// The figures of a GPU under the keys Kineto gives them.
Value device_properties(const Plane& plane) {
  struct Known {
    std::string_view ours, theirs;
  };
  constexpr Known kKnown[] = {{"totalGlobalMem", "memory_size"},
                              {"numSms", "core_count"},
                              {"computeMajor", "compute_cap_major"},
                              {"computeMinor", "compute_cap_minor"}};
  std::vector<std::string> keys{"id"};
  std::vector<Value> values{Value{plane.id()}};
  std::string vendor, name;
  for (const Stat& stat : plane.stats()) {
    const std::string_view key = plane.key_name(stat);
    if (key == "device_vendor") vendor = plane.text(stat);
    if (key == "gpu_device_name") name = plane.text(stat);
    for (const auto& [ours, theirs] : kKnown)
      if (key == theirs && stat.integer()) {
        keys.emplace_back(ours);
        values.emplace_back(*stat.integer());
      }
  }
  keys.emplace_back("name");
  values.emplace_back(name.empty() ? vendor : name);
  return Value::dict(std::move(keys), std::move(values));
}

class ProfileReader {
 public:
  explicit ProfileReader(const ReadOptions& options) : options_{options}, modules_{builder_} {}

  void read(io::Stream& in) {
    GrowingBytes buffer;
    const std::string_view bytes = all_bytes(in, buffer);
    const Pages pages{in, bytes};
    modules_.start_host(host_of(in.name()));
    const std::int64_t first_pid = kPidsPerHost * hosts_++;
    const Parts parts = split(in, bytes);

    const int threads = io::thread_count(options_.threads);
    std::vector<Plane> gpus, hosts;
    struct Worker {
      std::string_view part;
      std::optional<Plane> plane;
    };
    std::size_t next = 0;
    OrderedWork work{[&](Worker& worker) {
                       if (next == parts.planes.size()) return false;
                       worker.part = parts.planes[next++];
                       return true;
                     },
                     [&](Worker& worker) { worker.plane.emplace(worker.part, pages); },
                     [&](Worker& worker) { sort(std::move(*worker.plane), gpus, hosts); }};
    work.run(std::min(threads, static_cast<int>(parts.planes.size())), [] { return Worker{}; });
    std::ranges::stable_sort(gpus, {}, &Plane::id);
    const HostHints hints = hosts.empty() ? HostHints{} : scan_host(hosts.front(), pages, threads);
    reserve(gpus, hints);
    const std::string host{host_of(in.name())};
    for (const Plane& gpu : gpus) {
      DeviceReader{gpu,
                   pages,
                   modules_,
                   hints,
                   {.pid = gpu_pid(first_pid, gpu.id()), .name = host + " " + gpu.name()},
                   builder_,
                   threads}
          .read();
      report(in, bytes.size());
    }
    if (!hosts.empty())
      read_host(hosts.front(), pages, hints,
                {.pid = first_pid + kHostPid, .name = host + " " + hosts.front().name()}, builder_,
                threads);
    report(in, bytes.size());

    modules_.finish_host();
    Source& source = builder_.source();
    source.text_bytes += bytes.size();
    source.packed_bytes += in.packed_bytes();
    source.packing = in.packing();
    if (!in.damage().empty()) {
      builder_.warnings().add(in.damage(), bytes.size());
      is_cut_ = true;
    }
    if (is_cut_) {
      builder_.warnings().add("file ends inside a plane", bytes.size());
      source.cut_short = true;
    }
  }

  // Which files of a folder were read, for those who gave the folder.
  void add_run(const xplane::ProfileRun& run) {
    std::vector<Value> files;
    for (const std::string& file : run.files) files.emplace_back(file);
    builder_.add_metadata("profile_run", Value::dict({"folder", "files", "runs"},
                                                     {run.folder, Value::list(std::move(files)),
                                                      static_cast<std::int64_t>(run.runs)}));
  }

  Trace finish(std::string name) && {
    modules_.finish();
    if (!devices_.empty())
      builder_.add_metadata("deviceProperties", Value::list(std::move(devices_)));
    builder_.source().name = std::move(name);
    builder_.source().format = "xplane";
    builder_.source().recorder = Recorder::kJax;
    return std::move(builder_).finish();
  }

 private:
  struct Parts {
    std::vector<std::string_view> planes;
  };

  Parts split(const io::Stream& in, std::string_view bytes) {
    constexpr std::size_t kMostMessages = 1000;
    std::size_t messages = 0;
    Parts parts;
    Wire wire{bytes};
    for (WireField field; wire.next(field);) {
      if (!field.has_bytes) continue;
      if (field.number == 1) parts.planes.push_back(field.bytes);
      if (field.number == 2 || field.number == 3)
        builder_.warnings().add(++messages <= kMostMessages
                                    ? fmt::format("the profiler says: {}", field.bytes)
                                    : "the profiler says more than is kept",
                                static_cast<std::uint64_t>(field.bytes.data() - bytes.data()));
      if (field.number == 4) builder_.add_metadata("hostname", std::string{field.bytes});
    }
    if (wire.is_damaged()) {
      is_cut_ = true;
      if (!wire.cut().empty()) parts.planes.push_back(wire.cut());
    }
    if (parts.planes.empty()) throw Error{in.name(), "not a profile: it has no planes"};
    return parts;
  }

  // By what it is about. The planes of one file, in its order.
  void sort(Plane&& plane, std::vector<Plane>& gpus, std::vector<Plane>& hosts) {
    if (plane.is_damaged()) is_cut_ = true;
    if (plane.name().starts_with(kGpuPrefix)) {
      devices_.push_back(device_properties(plane));
      gpus.push_back(std::move(plane));
    } else if (plane.name() == "/host:CPU") {
      hosts.push_back(std::move(plane));
    } else if (plane.name() == "/host:metadata") {
      add_modules(plane, modules_);
      add_versions(plane);
    } else if (plane.name().starts_with("/device:") && !plane.lines().empty()) {
      builder_.warnings().add(fmt::format("plane {}: only GPUs are read", plane.name()), 0);
    } else if (plane.name() == "Task Environment") {
      add_versions(plane);
    }
  }

  void add_versions(const Plane& plane) {
    for (const Stat& stat : plane.stats()) {
      const std::string_view key = plane.key_name(stat);
      const std::string_view text = plane.text(stat);
      if (key.ends_with("_version") && !text.empty())
        builder_.add_metadata(std::string{key}, std::string{text});
      else if (const auto number = stat.integer(); number && key.starts_with("profile_"))
        builder_.add_metadata(std::string{key}, *number);
    }
  }

  // Room for all rows at once: growing would copy them. A kernel brings an op with it.
  void reserve(const std::vector<Plane>& gpus, const HostHints& hints) {
    std::uint64_t rows = builder_.size() + hints.events();
    for (const Plane& gpu : gpus)
      for (const xplane::Line& line : gpu.lines()) rows += 2 * line.events + 1;
    builder_.reserve(static_cast<std::size_t>(rows));
  }

  void report(const io::Stream& in, std::size_t bytes) {
    if (options_.on_progress)
      options_.on_progress(
          {.fraction = in.progress(), .text_bytes = bytes, .events = builder_.size()});
  }

  const ReadOptions& options_;
  TraceBuilder builder_;
  Modules modules_;
  std::vector<Value> devices_;
  std::int64_t hosts_ = 0;
  bool is_cut_ = false;
};

}  // namespace

bool is_xplane(std::string_view head) {
  // The first plane: field 1 of the file, with an id (left out when 0) and a name.
  Wire space{head};
  WireField plane;
  space.next(plane);
  const std::string_view start = plane.has_bytes ? plane.bytes : space.cut();
  if (!head.starts_with('\x0a') || start.empty()) return false;
  Wire fields{start};
  WireField field;
  while (fields.next(field) && field.number == 1 && field.is_integer) {
  }
  if (field.number != 2 || !field.has_bytes) return false;
  return field.bytes.starts_with("/host:") || field.bytes.starts_with("/device:") ||
         field.bytes == "Task Environment";
}

Trace read_xplane(io::Stream& in, const ReadOptions& options) {
  ProfileReader reader{options};
  reader.read(in);
  return std::move(reader).finish(in.name());
}

Trace read_xplane_folder(const std::string& folder, const ReadOptions& options) {
  const xplane::ProfileRun run = xplane::find_profile_run(folder);
  ProfileReader reader{options};
  for (const std::string& file : run.files) {
    io::Stream in = io::Stream::open(file);
    if (!is_xplane(in.peek(4096))) throw Error{file, "not an XPlane profile"};
    reader.read(in);
  }
  reader.add_run(run);
  return std::move(reader).finish(folder);
}

}  // namespace tracelens
