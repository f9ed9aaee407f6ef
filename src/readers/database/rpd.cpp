// Calls come first: a link names the call of a GPU operation by its row, and so does what is known of
// a launch or a copy.
#include "readers/database/rpd.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <string>
#include <unordered_map>
#include <vector>

#include "readers/database/lookup.hpp"
#include "readers/database/table_rows.hpp"

namespace tracelens {
namespace {

struct ApiRow {
  std::int64_t id, pid, tid, start_ns, end_ns, name, arguments;
};
struct Apis {
  std::vector<ApiRow> rows;
  void add(const Statement& row) {
    rows.push_back({row.integer(0), row.integer(1), row.integer(2), row.integer(3), row.integer(4),
                    row.integer(5), row.integer(6)});
  }
  void complete(const Connection&) {}
};
struct OpRow {
  std::int64_t id, gpu, queue, start_ns, end_ns, description, type;
};
struct Ops {
  std::vector<OpRow> rows;
  void add(const Statement& row) {
    rows.push_back({row.integer(0), row.integer(1), row.integer(2), row.integer(3), row.integer(4),
                    row.integer(5), row.integer(6)});
  }
  void complete(const Connection&) {}
};

// What is known of a launch.
struct Launch {
  std::array<std::int64_t, 3> grid = {kAbsent, kAbsent, kAbsent},
                              group = {kAbsent, kAbsent, kAbsent};
  std::int64_t shared_bytes = kAbsent, private_bytes = kAbsent;
};

class RpdReader {
 public:
  RpdReader(const DatabaseFile& file, Job& job, int threads)
      : file_{file}, job_{job}, threads_{threads}, base_{job.new_space()} {}

  void read() {
    read_strings("rocpd_string", strings_);
    if (file_.has("rocpd_ustring")) read_strings("rocpd_ustring", arguments_);
    for_each_row(job_, {file_, "rocpd_metadata", {"tag", "value"}}, [this](const Statement& row) {
      if (row.text(0) == "gpu_stride") gpu_stride_ = std::max<std::int64_t>(row.integer(1), 0);
      if (row.text(0) == "pid_stride") pid_stride_ = std::max<std::int64_t>(row.integer(1), 0);
    });
    read_apis();
    for_each_row(job_, {file_, "rocpd_api_ops", {"op_id", "api_id"}},
                 [this](const Statement& row) { calls_.set(row.integer(0), row.integer(1)); });
    for_each_row(job_, {file_, "rocpd_copyapi", {"api_ptr_id", "size"}},
                 [this](const Statement& row) { sizes_.set(row.integer(0), row.integer(1)); });
    read_launches();
    read_ops();
  }

 private:
  using Strings = ById<StringId>;
  void read_strings(const char* table, Strings& strings) {
    for_each_row(job_, {file_, table, {"id", "string"}}, [&](const Statement& row) {
      strings.set(row.integer(0), job_.intern(row.text(1)));
    });
  }
  StringId text_of(const Strings& strings, std::int64_t id) {
    const StringId* const found = strings.find(id);
    return found != nullptr ? *found : job_.intern(fmt::format("string_{}", id));
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
    const bool has_nodes = pid_stride_ > 1 && pid != kAbsent;
    const std::string machine = has_nodes ? node(pid / pid_stride_) : std::string{};
    return job_.process(machine, has_nodes ? pid % pid_stride_ : pid, machine);
  }
  std::int64_t gpu(std::int64_t id) {
    const bool has_nodes = gpu_stride_ > 1 && id != kAbsent;
    const std::string machine = has_nodes ? node(id / gpu_stride_) : std::string{};
    return job_.gpu(machine, has_nodes ? id % gpu_stride_ : id, machine);
  }
  static std::string node(std::int64_t number) {
    return number == 0 ? std::string{} : fmt::format("node {}", number);
  }

  void read_apis() {
    const StringId hip = job_.intern("hip");
    const TableColumns columns{
        file_, "rocpd_api", {"id", "pid", "tid", "start", "end", "apiName_id", "args_id"}};
    note(job_, columns.table,
         read_table<Apis>(
             columns, threads_, [] { return Apis{}; },
             [&](Apis& piece) {
               for (const ApiRow& row : piece.rows) add_api(row, hip);
             }));
  }

  void add_api(const ApiRow& row, StringId hip) {
    const std::int64_t own = process(row.pid);
    const TrackId track = job_.thread(own, row.tid);
    processes_.set(row.id, own);
    const StringId name = text_of(strings_, row.name);
    const std::string_view word = text(name);
    if (word == "UserMarker") {
      const Strings& arguments = arguments_.empty() ? strings_ : arguments_;
      const StringId message = text_of(arguments, row.arguments);
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
      job_.count_no_event();
      job_.add_overhead(name, track, row.start_ns, row.end_ns);
    }
  }

  void read_launches() {
    const TableColumns columns{file_,
                               "rocpd_kernelapi",
                               {"api_ptr_id", "gridX", "gridY", "gridZ", "workgroupX", "workgroupY",
                                "workgroupZ", "groupSegmentSize", "privateSegmentSize"}};
    bool are_work_items = true, are_any = false;
    for_each_row(job_, columns, [&](const Statement& row) {
      const Launch launch{{row.integer(1), row.integer(2), row.integer(3)},
                          {row.integer(4), row.integer(5), row.integer(6)},
                          row.integer(7),
                          row.integer(8)};
      const bool is_multiple = launch.group[0] > 0 && launch.grid[0] % launch.group[0] == 0;
      are_work_items = are_work_items && is_multiple;
      are_any = true;
      launches_.set(row.integer(0), launch);
    });
    // Tracers differ in what they write, and do not say which of them it was.
    grid_is_work_items_ = are_any && are_work_items;
    if (grid_is_work_items_)
      job_.warn("grid sizes were taken as work-items: each is a multiple of its work-group");
  }

  void read_ops() {
    const TableColumns columns{
        file_,
        "rocpd_op",
        {"id", "gpuId", "queueId", "start", "end", "description_id", "opType_id"}};
    note(job_, columns.table,
         read_table<Ops>(
             columns, threads_, [] { return Ops{}; },
             [&](Ops& piece) {
               for (const OpRow& row : piece.rows) add_op(row);
             }));
  }

  void add_op(const OpRow& row) {
    const StringId type = text_of(strings_, row.type);
    StringId name = text_of(strings_, row.description);
    if (text(name).empty()) name = type;
    const std::int64_t* const call = calls_.find(row.id);
    const std::int64_t* const owner = call == nullptr ? nullptr : processes_.find(*call);
    Job::GpuEvent event{.name = name,
                        .process = owner == nullptr ? 0 : *owner,
                        .gpu = gpu(row.gpu),
                        .stream = row.queue,
                        .start_ns = row.start_ns,
                        .end_ns = row.end_ns,
                        .correlation = call == nullptr ? kAbsent : correlation(*call)};
    std::string members;
    if (text(type).starts_with("Copy")) {
      event.category = Category::kGpuMemcpy;
      members = text_member("kind", text(name));
      if (const std::int64_t* const bytes = call == nullptr ? nullptr : sizes_.find(*call))
        members += number_member("bytes", *bytes);
    } else if (text(type) == "FillBuffer") {
      event.category = Category::kGpuMemset;
      members = text_member("kind", text(name));
    } else if (const Launch* const launch = call == nullptr ? nullptr : launches_.find(*call)) {
      members = launch_members(*launch);
    }
    if (!members.empty()) event.details = job_.intern(object_of(members));
    job_.add_gpu_event(event);
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
  std::int64_t base_;
  std::int64_t gpu_stride_ = 0, pid_stride_ = 0;
  Strings strings_, arguments_;
  ById<std::int64_t> calls_;      // of GPU operations
  ById<std::int64_t> sizes_;      // of what calls copied
  ById<std::int64_t> processes_;  // of calls
  ById<Launch> launches_;         // by call
  bool grid_is_work_items_ = false;
  std::unordered_map<std::int64_t, std::int64_t> spaces_;
};

}  // namespace

bool is_rpd(const DatabaseFile& file) { return file.has("rocpd_op") && file.has("rocpd_api"); }

void read_rpd(const DatabaseFile& file, Job& job, int threads) {
  RpdReader{file, job, threads}.read();
}

}  // namespace tracelens
