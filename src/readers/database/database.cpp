#include "readers/database/database.hpp"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <chrono>
#include <filesystem>
#include <set>
#include <system_error>
#include <tracelens/error.hpp>
#include <tracelens/trace_builder.hpp>

#include "io/ascii.hpp"
#include "io/threads.hpp"
#include "readers/database/connection.hpp"
#include "readers/database/job.hpp"
#include "readers/database/nsight.hpp"
#include "readers/database/package_list.hpp"
#include "readers/database/rocpd.hpp"
#include "readers/database/rpd.hpp"
#include "readers/kit/source.hpp"

namespace tracelens {
namespace {

namespace fs = std::filesystem;

// A packed database is unpacked into memory up to this size, else into a file without a name.
constexpr std::size_t kMostInMemory = std::size_t{1} << 30;
constexpr std::uint64_t kMostUnpacked = std::uint64_t{64} << 30;

constexpr const char* kStillWritten =
    "is still being written: read it again when the program that writes it has ended";

struct Known {
  Recorder recorder;
  std::string_view format;
};

// Databases of other programs that people may take for a trace, by two tables of theirs.
struct Stranger {
  std::string_view table, other, sentence;
};
constexpr Stranger kStrangers[] = {
    {"compute_workload", "compute_kernel",
     "an analysis of ROCm Compute Profiler, which holds its tables and no events; record a trace "
     "beside it: rocprofv3 --sys-trace -- PROGRAM"},
    {"STRING_IDS", "TASK",
     "a database of msprof, the profiler of Ascend NPUs, which this program does not read; export "
     "its timeline: msprof --export=on --output=FOLDER writes JSON"},
    {"STRING_IDS", "CANN_API",
     "a database of msprof, the profiler of Ascend NPUs, which this program does not read; export "
     "its timeline: msprof --export=on --output=FOLDER writes JSON"},
};

Known kind_of(const DatabaseFile& file) {
  if (is_nsight(file)) return {Recorder::kNsight, "Nsight Systems (SQLite)"};
  if (is_rocpd(file)) return {Recorder::kRocpd, "rocpd (SQLite)"};
  if (is_rpd(file)) return {Recorder::kRpd, "rpd (SQLite)"};
  std::string names;
  std::size_t count = 0;
  constexpr std::size_t kNamed = 8;
  for (const auto& [table, columns] : file.tables()) {
    if (count++ == kNamed) break;
    names.append(names.empty() ? "" : ", ").append(table);
  }
  if (file.tables().size() > kNamed) names += ", …";
  for (const Stranger& stranger : kStrangers)
    if (file.has(stranger.table) && file.has(stranger.other))
      throw Error{file.name(), std::string{stranger.sentence}};
  throw Error{file.name(),
              fmt::format("an SQLite database, but no trace this program knows (tables: {})",
                          names.empty() ? "none" : names)};
}

DatabaseOptions file_options(const ReadOptions& options) {
  DatabaseOptions made{.salvage = options.salvage};
  if (options.time_limit_s > 0)
    made.until = std::chrono::steady_clock::now() + std::chrono::seconds{options.time_limit_s};
  return made;
}

class DatabaseReader {
 public:
  DatabaseReader(const ReadOptions& options, bool of_several)
      : options_{options},
        file_options_{file_options(options)},
        of_several_{of_several},
        job_{builder_, options} {}
  // For the files to read.
  [[nodiscard]] const DatabaseOptions& options() const { return file_options_; }

  void add(const DatabaseFile& file) {
    const Known kind = kind_of(file);
    if (known_.format.empty()) known_ = kind;
    if (kind.recorder != known_.recorder)
      throw Error{file.name(),
                  fmt::format("is of {}; the files before are of {}", kind.format, known_.format)};
    const int threads = io::thread_count(options_.threads);
    if (!file.cut().empty()) job_.lost(file.cut());
    try {
      if (kind.recorder == Recorder::kNsight)
        read_nsight(file, job_, threads, of_several_, processes_);
      if (kind.recorder == Recorder::kRocpd) read_rocpd(file, job_, threads, processes_);
      if (kind.recorder == Recorder::kRpd) read_rpd(file, job_, threads, processes_);
    } catch (const Error& error) {
      if (file.has_changed()) throw Error{file.name(), kStillWritten};
      throw renamed(error, file.name());
    }
    bytes_ += file.bytes();
    if (file.has_changed())
      job_.warn(job_.has_lost() ? kStillWritten : "the database changed while it was read");
    job_.progress(0);
  }

  [[nodiscard]] TraceBuilder& builder() { return builder_; }
  [[nodiscard]] Job& job() { return job_; }
  [[nodiscard]] const Known& known() const { return known_; }

  Trace finish(const std::string& name) && {
    if (builder_.size() == 0)
      throw Error{
          name,
          "no GPU event, call or range in it; a run that was killed leaves such a database, since "
          "the profiler writes its tables at the end"};
    // The clock of rocprofv3 counts from the start of the machine.
    if (known_.recorder == Recorder::kRocpd && job_.machines() > 1)
      job_.warn(fmt::format(
          "the clocks of the {} machines of this job have nothing to do with each "
          "other: what is said of all GPUs together (idle time, overlap, span, findings, "
          "critical path) holds for none; look at one machine at a time, or at "
          "device_timeline",
          job_.machines()));
    job_.finish();
    builder_.source().text_bytes = bytes_;
    return std::move(builder_).finish();
  }

 private:
  const ReadOptions& options_;
  DatabaseOptions file_options_;
  bool of_several_;
  TraceBuilder builder_;
  Job job_;
  Known known_{Recorder::kUnknown, {}};
  std::set<std::string> processes_;
  std::uint64_t bytes_ = 0;
};

void write_all(int fd, std::string_view bytes, const std::string& name) {
  while (!bytes.empty()) {
    const ssize_t written = ::write(fd, bytes.data(), bytes.size());
    if (written < 0 && errno == EINTR) continue;
    if (written < 0)
      throw Error{name, "cannot be unpacked: " + std::generic_category().message(errno)};
    bytes.remove_prefix(static_cast<std::size_t>(written));
  }
}

// SQLite has to jump about in a file: what comes packed or through a pipe is put somewhere first.
DatabaseFile unpacked(io::Stream& in, const DatabaseOptions& options) {
  constexpr std::size_t kBlock = std::size_t{4} << 20;
  std::string bytes;
  while (bytes.size() < kMostInMemory) {
    const std::size_t at = bytes.size();
    bytes.resize(at + kBlock);
    bytes.resize(at + in.read({bytes.data() + at, kBlock}));
    if (bytes.size() == at) return DatabaseFile::of_bytes(in.name(), std::move(bytes), options);
  }
  Descriptor file = unnamed_file();
  std::uint64_t size = bytes.size();
  write_all(file.get(), bytes, in.name());
  bytes.resize(kBlock);
  while (const std::size_t got = in.read(bytes)) {
    size += got;
    if (size > kMostUnpacked)
      throw Error{in.name(), fmt::format("unpacks to more than {} bytes", kMostUnpacked)};
    write_all(file.get(), {bytes.data(), got}, in.name());
  }
  return DatabaseFile::of_descriptor(in.name(), std::move(file), options);
}

// A damaged database is not passed over: the job would be short of a process without a word.
bool is_rocpd_file(const fs::path& path, DatabaseOptions options) {
  io::Stream in = io::Stream::open(path.string());
  if (!is_sqlite(in.peek(4096))) return false;
  options.salvage = true;
  return is_rocpd(in.packing().empty() ? DatabaseFile::of_file(path.string(), options)
                                       : unpacked(in, options));
}

// As rocprofv3 names them, packed by whatever is unpacked here.
bool has_database_name(const fs::path& path) {
  const std::string name = io::lower_case(path.filename().string());
  return std::ranges::any_of(std::array<std::string_view, 4>{".db", ".db.gz", ".db.zst", ".db.zip"},
                             [&](std::string_view ending) { return name.ends_with(ending); });
}

// The databases that the list of a package names, as paths.
std::vector<std::string> listed_in(io::Stream& in) {
  std::string text(std::size_t{1} << 20, '\0');
  text.resize(in.read(text));
  const PackageList list = package_list(text);
  std::vector<std::string> paths = listed_files(list, fs::path{in.name()}.parent_path(), in.name());
  if (paths.empty()) throw Error{in.name(), "lists no database"};
  return paths;
}

// A package is a folder whose databases, wherever they lie, a list in it names.
std::vector<std::string> packaged_in(const fs::path& folder) {
  const fs::path name = folder.has_filename() ? folder.filename() : folder.parent_path().filename();
  if (io::lower_case(name.extension().string()) != ".rpdb") return {};
  std::vector<fs::path> lists;
  std::error_code error;
  for (const auto& entry : fs::directory_iterator{folder, error})
    if (const std::string ending = io::lower_case(entry.path().extension().string());
        (ending == ".yaml" || ending == ".yml") && entry.is_regular_file(error))
      lists.push_back(entry.path());
  std::ranges::sort(lists);
  std::vector<std::string> found;
  for (const fs::path& list : lists) {
    io::Stream in = io::Stream::open(list.string());
    if (!is_package_list(in.peek(4096))) continue;
    const std::vector<std::string> listed = listed_in(in);
    found.insert(found.end(), listed.begin(), listed.end());
  }
  return found;
}

}  // namespace

bool is_database(std::string_view head) { return is_sqlite(head); }

Trace read_database(io::Stream& in, const ReadOptions& options) {
  DatabaseReader reader{options, false};
  std::error_code error;
  const bool is_file = in.packing().empty() && fs::is_regular_file(in.name(), error);
  reader.add(is_file ? DatabaseFile::of_file(in.name(), reader.options())
                     : unpacked(in, reader.options()));
  describe_source(reader.builder(), in, reader.known().recorder, reader.known().format);
  return std::move(reader).finish(in.name());
}

Trace read_databases(const std::string& name, std::span<const std::string> paths,
                     const ReadOptions& options) {
  DatabaseReader reader{options, paths.size() > 1};
  std::set<fs::path> seen;
  std::error_code error;
  for (const std::string& path : paths) {
    const bool is_file = fs::is_regular_file(path, error);
    if (is_file && !seen.insert(fs::canonical(path, error)).second) {
      reader.job().warn("a file that is named twice was read once");
      continue;
    }
    io::Stream in = io::Stream::open(path);
    if (!is_database(in.peek(4096)))
      throw Error{path, "is no SQLite database; only databases of one job are read together"};
    reader.add(is_file && in.packing().empty() ? DatabaseFile::of_file(path, reader.options())
                                               : unpacked(in, reader.options()));
  }
  Source& source = reader.builder().source();
  source.name = name;
  source.recorder = reader.known().recorder;
  source.format = reader.known().format;
  return std::move(reader).finish(name);
}

std::vector<std::string> databases_in(const std::string& folder, const ReadOptions& options) {
  std::vector<std::string> found = packaged_in(folder);
  if (!found.empty()) return found;
  const DatabaseOptions of_all = file_options(options);  // one limit of time for all
  std::error_code error;
  for (const auto& entry : fs::directory_iterator{folder, error})
    if (has_database_name(entry.path()) && entry.is_regular_file(error) &&
        is_rocpd_file(entry.path(), of_all))
      found.push_back(entry.path().string());
  std::ranges::sort(found);
  return found;
}

bool is_database_list(std::string_view head) { return is_package_list(head); }

Trace read_database_list(io::Stream& in, const ReadOptions& options) {
  const std::vector<std::string> paths = listed_in(in);
  return read_databases(in.name(), paths, options);
}

}  // namespace tracelens
