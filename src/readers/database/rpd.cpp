// Calls come first: a link names the call of a GPU operation by its row, and so does what is known of
// a launch or a copy.
#include "readers/database/rpd.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>
#include <limits>
#include <optional>
#include <set>
#include <string>
#include <unordered_map>
#include <vector>

#include "io/ascii.hpp"
#include "readers/database/lookup.hpp"
#include "readers/database/table_rows.hpp"

namespace tracelens {
namespace {

struct ApiRow {
  std::int64_t id, pid, tid, start_ns, end_ns, name, arguments;
};
struct OpRow {
  std::int64_t id, gpu, queue, start_ns, end_ns, description, type;
};

// What is known of a launch.
struct Launch {
  std::array<std::int64_t, 3> grid = {kAbsent, kAbsent, kAbsent},
                              group = {kAbsent, kAbsent, kAbsent};
  std::int64_t shared_bytes = kAbsent, private_bytes = kAbsent;
};

class RpdReader {
 public:
  // `recording` is what tells this file's processes from those of others.
  RpdReader(const DatabaseFile& file, Job& job, int threads, std::string recording)
      : file_{file},
        job_{job},
        threads_{threads},
        recording_{std::move(recording)},
        base_{job.new_space()} {}

  void read() {
    for_each_row(job_, {file_, "rocpd_metadata", {"tag", "value"}}, [this](const Statement& row) {
      if (row.text(0) == "pid_stride") pid_stride_ = std::max<std::int64_t>(stride_in(row), 0);
      const std::string_view version = row.text(1);
      if (row.text(0) == "schema_version" && version != "2" && version != "3")
        job_.warn("the schema has a version that is not known: what its columns tell was read");
    });
    expect_rows(job_, file_, std::array<std::string, 2>{"rocpd_api", "rocpd_op"});
    read_apis();
    for_each_numbers(job_, file_, "rocpd_api_ops", {"op_id", "api_id"}, threads_,
                     [this](const auto& row) { calls_.set(row[0], row[1]); });
    for_each_numbers(job_, file_, "rocpd_copyapi", {"api_ptr_id", "size"}, threads_,
                     [this](const auto& row) { sizes_.set(row[0], row[1]); });
    read_launches();
    read_ops();
    for_each_row(
        job_, {file_, "rocpd_monitor", {"deviceType", "deviceId", "monitorType", "start", "value"}},
        [this](const Statement& row) {
          const bool is_gpu = io::lower_case(row.text(0)) == "gpu";
          double value = row.real(4);
          if (std::isnan(value)) value = number_in(row.text(4));
          job_.add_sample(row.text(2), is_gpu ? gpu(row.integer(1)) : kAbsent, row.integer(3),
                          value);
        });
  }

 private:
  // Values are texts.
  static std::int64_t stride_in(const Statement& row) {
    if (row.integer(1) != kAbsent) return row.integer(1);
    const double value = number_in(row.text(1));
    return value >= 0 && value < 1e18 ? static_cast<std::int64_t>(value) : kAbsent;
  }
  static double number_in(std::string_view text) {
    double value = 0;
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
    const bool is_number = error == std::errc{} && end == text.data() + text.size();
    return is_number ? value : std::numeric_limits<double>::quiet_NaN();
  }

  // Most texts are arguments of calls that nobody looks at: each is found when it is asked for.
  struct Strings {
    const char* table;
    ById<StringId> known = {};
    std::optional<Statement> find = {};
    bool is_read = false;
  };
  StringId text_of(Strings& strings, std::int64_t id) {
    if (const StringId* const found = strings.known.find(id)) return *found;
    const TableColumns columns{file_, strings.table, {"id", "string"}};
    if (!std::exchange(strings.is_read, true)) {
      if (file_.is_row_number(strings.table, "id"))
        strings.find.emplace(columns.select(file_.connect(), " WHERE id = ?1"));
      else
        for_each_row(job_, columns, [&](const Statement& row) {
          strings.known.set(row.integer(0), job_.intern(row.text(1)));
        });
      if (const StringId* const found = strings.known.find(id)) return *found;
    }
    StringId text;
    if (strings.find && id != kAbsent) {
      strings.find->bind(1, id);
      if (strings.find->step()) text = job_.intern(strings.find->text(1));
      if (strings.find->is_damaged()) job_.lost(fmt::format("table {} is damaged", strings.table));
    }
    if (!text.valid()) text = job_.intern(fmt::format("string_{}", id == kAbsent ? 0 : id));
    strings.known.set(id, text);
    return text;
  }
  [[nodiscard]] std::string_view text(StringId id) { return job_.builder().text(id); }

  // Ids of calls are (n-th process << 32) + n.
  std::int64_t correlation(std::int64_t call) {
    if (call == kAbsent || call < 0) return kAbsent;
    const std::int64_t process = call >> 32;
    const auto [space, is_new] = spaces_.try_emplace(process, process == 0 ? base_ : 0);
    if (is_new && process != 0) space->second = job_.new_space();
    return job_.correlation(space->second, call & 0xffffffff);
  }
  std::int64_t process(std::int64_t pid) {
    if (last_pid_ && *last_pid_ == pid) return last_process_;  // as nearly always
    last_pid_ = pid;
    return last_process_ = new_process(pid);
  }
  // Files of several machines count them in the upper digits of pids and of GPUs, and name none: both are
  // called by the whole number, which tells them apart.
  std::int64_t new_process(std::int64_t pid) {
    const bool has_nodes = pid_stride_ > 1 && pid != kAbsent && pid / pid_stride_ != 0;
    const std::string machine =
        has_nodes ? fmt::format("node {}", pid / pid_stride_) : std::string{};
    return job_.process(machine, pid, {}, recording_);
  }
  std::int64_t gpu(std::int64_t id) { return job_.gpu({}, id); }

  void read_apis() {
    const StringId hip = job_.intern("hip");
    for_each_numbers(job_, file_, "rocpd_api",
                     {"id", "pid", "tid", "start", "end", "apiName_id", "args_id"}, threads_,
                     [&](const auto& row) {
                       add_api({row[0], row[1], row[2], row[3], row[4], row[5], row[6]}, hip);
                     });
  }

  void add_api(const ApiRow& row, StringId hip) {
    const std::int64_t own = process(row.pid);
    const TrackId track = job_.thread(own, row.tid);
    processes_.set(row.id, own);
    owners_.try_emplace(row.id >> 32, own);
    const StringId name = text_of(strings_, row.name);
    const std::string_view word = text(name);
    if (word == "UserMarker") {
      const StringId message =
          text_of(file_.has("rocpd_ustring") ? arguments_ : strings_, row.arguments);
      const Job::Range range{track, {}, text(message), row.start_ns, row.end_ns};
      row.end_ns == row.start_ns ? job_.add_mark(range) : job_.add_range(range);
    } else if (word.starts_with("hip") || word.starts_with("cu")) {
      job_.add_call({.category = word.starts_with("cu") && !word.starts_with("cuda")
                                     ? Category::kCudaDriver
                                     : Category::kCudaRuntime,
                     .domain = hip,
                     .name = name,
                     .track = track,
                     .start_ns = row.start_ns,
                     .end_ns = row.end_ns,
                     .correlation = correlation(row.id)});
    } else {  // the tracer's own work
      if (job_.add_overhead(name, track, row.start_ns, row.end_ns)) job_.count_no_event();
    }
  }

  void read_launches() {
    bool are_work_items = true, are_any = false;
    for_each_numbers(job_, file_, "rocpd_kernelapi",
                     {"api_ptr_id", "gridX", "gridY", "gridZ", "workgroupX", "workgroupY",
                      "workgroupZ", "groupSegmentSize", "privateSegmentSize"},
                     threads_, [&](const auto& row) {
                       are_work_items = are_work_items && row[4] > 0 && row[1] % row[4] == 0;
                       are_any = true;
                       launches_.set(row[0], launch_number(row));
                     });
    // Tracers differ in what they write, and do not say which of them it was.
    grid_is_work_items_ = are_any && are_work_items;
    if (grid_is_work_items_)
      job_.warn("grid sizes were taken as work-items: each is a multiple of its work-group");
  }

  // Launches repeat: those of one kind have one number.
  std::uint32_t launch_number(const std::array<std::int64_t, 9>& row) {
    return launch_numbers_.find_or_add(
        hash_text({reinterpret_cast<const char*>(row.data() + 1), 8 * sizeof(std::int64_t)}),
        [&](std::uint32_t known) {
          const Launch& launch = kinds_[known];
          return std::ranges::equal(launch.grid, std::span{row}.subspan(1, 3)) &&
                 std::ranges::equal(launch.group, std::span{row}.subspan(4, 3)) &&
                 launch.shared_bytes == row[7] && launch.private_bytes == row[8];
        },
        [&] {
          kinds_.push_back({{row[1], row[2], row[3]}, {row[4], row[5], row[6]}, row[7], row[8]});
          return static_cast<std::uint32_t>(kinds_.size() - 1);
        });
  }

  void read_ops() {
    for_each_numbers(job_, file_, "rocpd_op",
                     {"id", "gpuId", "queueId", "start", "end", "description_id", "opType_id"},
                     threads_, [this](const auto& row) {
                       add_op({row[0], row[1], row[2], row[3], row[4], row[5], row[6]});
                     });
  }

  // Of an operation whose call is not in the file: ids tell the n-th process, as those of calls do.
  std::int64_t owner_of(std::int64_t op) {
    if (const auto found = owners_.find(op >> 32); found != owners_.end()) return found->second;
    if (owners_.empty()) return 0;
    return owners_.size() == 1 ? owners_.begin()->second
                               : job_.process("unknown", 0, "unknown", recording_);
  }

  void add_op(const OpRow& row) {
    const StringId type = text_of(strings_, row.type);
    StringId name = text_of(strings_, row.description);
    if (text(name).empty()) name = type;
    const std::int64_t* const call = calls_.find(row.id);
    const std::int64_t* const owner = call == nullptr ? nullptr : processes_.find(*call);
    Job::GpuEvent event{.name = name,
                        .process = owner == nullptr ? owner_of(row.id) : *owner,
                        .gpu = gpu(row.gpu),
                        .stream = row.queue,
                        .start_ns = row.start_ns,
                        .end_ns = row.end_ns,
                        .correlation = call == nullptr ? kAbsent : correlation(*call)};
    const Launch* launch = nullptr;
    std::int64_t bytes = kAbsent;
    if (text(type).starts_with("Copy")) {
      event.category = Category::kGpuMemcpy;
      if (const std::int64_t* const size = call == nullptr ? nullptr : sizes_.find(*call))
        bytes = *size;
    } else if (text(type) == "FillBuffer") {
      event.category = Category::kGpuMemset;
    } else {
      const std::uint32_t* const number = call == nullptr ? nullptr : launches_.find(*call);
      launch = number == nullptr ? nullptr : &kinds_[*number];
    }
    event.details = details_of(event, launch, bytes);
    job_.add_gpu_event(event);
  }

  StringId details_of(const Job::GpuEvent& event, const Launch* launch, std::int64_t bytes) {
    if (event.category == Category::kKernel && launch == nullptr) return {};
    std::array<std::int64_t, 9> key{static_cast<std::int64_t>(event.category), bytes,
                                    event.name.row};
    if (launch != nullptr) {
      key[1] = launch->shared_bytes;
      key[2] = launch->private_bytes;
      std::ranges::copy(launch->grid, key.begin() + 3);
      std::ranges::copy(launch->group, key.begin() + 6);
    }
    return details_.of(key, [&] {
      const std::string members =
          launch != nullptr ? launch_members(*launch)
                            : text_member("kind", text(event.name)) + number_member("bytes", bytes);
      return members.empty() ? StringId{} : job_.intern(object_of(members));
    });
  }

  [[nodiscard]] std::string launch_members(const Launch& launch) const {
    std::array<std::int64_t, 3> grid = launch.grid;
    if (grid_is_work_items_)
      for (std::size_t i = 0; i < grid.size(); ++i)
        if (grid[i] > 0 && launch.group[i] > 0) grid[i] = (grid[i] - 1) / launch.group[i] + 1;
    const bool is_known = std::ranges::find(grid, kAbsent) == grid.end() &&
                          std::ranges::find(launch.group, kAbsent) == launch.group.end();
    if (!is_known) return {};
    return fmt::format(R"(,"grid":[{},{},{}],"block":[{},{},{}])", grid[0], grid[1], grid[2],
                       launch.group[0], launch.group[1], launch.group[2]) +
           number_member("shared memory", launch.shared_bytes) +
           number_member("scratch", launch.private_bytes);
  }

  const DatabaseFile& file_;
  Job& job_;
  int threads_;
  std::string recording_;
  std::int64_t base_;
  std::int64_t pid_stride_ = 0;
  std::optional<std::int64_t> last_pid_;
  std::int64_t last_process_ = 0;
  Strings strings_{"rocpd_string"}, arguments_{"rocpd_ustring"};
  TextsByNumbers details_;
  ById<std::int64_t> calls_;                               // of GPU operations
  ById<std::int64_t> sizes_;                               // of what calls copied
  ById<std::int64_t> processes_;                           // of calls
  std::unordered_map<std::int64_t, std::int64_t> owners_;  // processes, by the upper half of ids
  ById<std::uint32_t> launches_;                           // by call, into kinds_
  std::vector<Launch> kinds_;
  IdIndex launch_numbers_;
  bool grid_is_work_items_ = false;
  std::unordered_map<std::int64_t, std::int64_t> spaces_;
};

// By what a recording is known again in a copy: as many calls and operations, the first of the same
// process and time.
std::string recording_of(const DatabaseFile& file) {
  std::string key;
  const auto add = [&](const char* table, std::vector<std::string_view> columns) {
    const TableColumns from{file, table, std::move(columns)};
    key += fmt::format("/{}", from.expected_rows());
    Statement first = from.select(file.connect(), " LIMIT 1");
    if (!first.step()) return;
    for (std::size_t i = 0; i < from.columns.size(); ++i)
      key += fmt::format(":{}", first.integer(static_cast<int>(i)));
  };
  add("rocpd_api", {"id", "pid", "tid", "start", "end"});
  add("rocpd_op", {"id", "gpuId", "start", "end"});
  return key;
}

}  // namespace

bool is_rpd(const DatabaseFile& file) { return file.has("rocpd_op") && file.has("rocpd_api"); }

void read_rpd(const DatabaseFile& file, Job& job, int threads, std::set<std::string>& seen) {
  std::string recording = recording_of(file);
  if (!seen.insert(recording).second)
    return job.warn("a recording that is in several files was read once");
  RpdReader{file, job, threads, std::move(recording)}.read();
}

}  // namespace tracelens
