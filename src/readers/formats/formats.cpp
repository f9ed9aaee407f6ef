// Every format TraceLens reads. Probes see the first 4 KiB and run in this order.
#include <filesystem>
#include <iterator>
#include <string>
#include <system_error>
#include <tracelens/error.hpp>
#include <tracelens/read_trace.hpp>
#include <utility>

#include "io/stream.hpp"
#include "io/threads.hpp"
#include "readers/database/database.hpp"
#include "readers/formats/host_threads.hpp"
#include "readers/formats/own_formats.hpp"
#include "readers/kineto/kineto.hpp"
#include "readers/perfetto/perfetto.hpp"
#include "readers/rocprof/csv.hpp"
#include "readers/rocprof/rocprof.hpp"
#include "readers/xplane/xplane.hpp"

namespace tracelens {
namespace {

struct KnownFormat {
  std::string_view name;
  bool (*probe)(std::string_view head);
  Trace (*read)(io::Stream& in, const ReadOptions& options);
  bool has_timelines = false;  // of rocprofv3, in the words of Perfetto
};

constexpr KnownFormat kFormats[] = {
    {.name = "JAX profile (.xplane.pb)", .probe = is_xplane, .read = read_xplane},
    {.name = "Perfetto (.pftrace)",
     .probe = is_perfetto,
     .read = read_perfetto,
     .has_timelines = true},
    {.name = "rocprofv3 JSON", .probe = is_rocprof, .read = read_rocprof},
    {.name = "rocprofv3 kernel trace (CSV)", .probe = is_rocprof_csv, .read = read_rocprof_csv},
    {.name = "rocpd, rpd and Nsight Systems databases (SQLite)",
     .probe = is_database,
     .read = read_database},
    {.name = "list of rocpd databases (YAML)",
     .probe = is_database_list,
     .read = read_database_list},
    {.name = "PyTorch profiler JSON (Kineto)",
     .probe = is_kineto,
     .read = read_kineto,
     .has_timelines = true},
};

Trace read_stream(io::Stream& in, const ReadOptions& options) {
  const std::string_view head = in.peek(4096);
  in.use_threads(io::thread_count(options.threads));
  if (head.empty()) throw Error{in.name(), in.damage().empty() ? "the file is empty" : in.damage()};
  if (const Format* const own = find_own_format(head)) return read_own(*own, in, options);
  for (const KnownFormat& format : kFormats)
    if (format.probe(head)) {
      Trace trace = format.read(in, options);
      return format.has_timelines ? with_own_threads(std::move(trace)) : std::move(trace);
    }
  for (const std::string_view report : {".nsys-rep", ".qdrep"})
    if (in.name().ends_with(report))
      throw Error{in.name(),
                  "a report of Nsight Systems, which only its own programs read; export it: "
                  "nsys export --type sqlite " +
                      in.name()};
  std::string known;
  for (const KnownFormat& format : kFormats)
    known.append(known.empty() ? "" : ", ").append(format.name);
  throw Error{in.name(), "not a trace of a known format; known are: " + own_format_names() + known};
}

}  // namespace

bool is_chrome_json(std::string_view head) {
  if (find_own_format(head) != nullptr) return false;
  for (const KnownFormat& format : kFormats)
    if (format.probe(head)) return format.read == read_kineto;
  return false;
}

Trace read_trace(const std::string& path, const ReadOptions& options) {
  std::error_code error;
  if (std::filesystem::is_directory(path, error)) {
    if (const auto databases = databases_in(path, options); !databases.empty())
      return read_databases(path, databases, options);
    return read_xplane_folder(path, options);
  }
  io::Stream in = io::Stream::open(path);
  return read_stream(in, options);
}

Trace read_job(std::span<const std::string> paths, const ReadOptions& options) {
  if (paths.size() == 1) return read_trace(paths.front(), options);
  return read_databases(paths.empty() ? std::string{"job"} : paths.front(), paths, options);
}

Trace read_trace_bytes(std::string name, std::span<const char> bytes, const ReadOptions& options) {
  io::Stream in = io::Stream::over(std::move(name), bytes);
  return read_stream(in, options);
}

Trace read_trace(ByteSource& bytes, const ReadOptions& options) {
  io::Stream in = io::Stream::pulling(bytes.name(),
                                      [&bytes](std::span<char> into) { return bytes.read(into); });
  return read_stream(in, options);
}

}  // namespace tracelens
