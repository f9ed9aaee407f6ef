// Which columns a table has decides, never the version: exports differ from release to release.
#include "readers/database/nsight.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <unordered_map>
#include <utility>
#include <vector>

#include "io/ascii.hpp"
#include "readers/database/lookup.hpp"
#include "readers/database/nsight_rows.hpp"
#include "readers/database/nvtx_payload.hpp"
#include "readers/database/table_rows.hpp"
#include "readers/kit/time_limits.hpp"

namespace tracelens {
namespace {

#define TL_ACTIVITY "CUPTI_ACTIVITY_KIND_"
constexpr const char* kKernels = TL_ACTIVITY "KERNEL";
constexpr const char* kCopies = TL_ACTIVITY "MEMCPY";
constexpr const char* kFills = TL_ACTIVITY "MEMSET";
constexpr const char* kGraphs = TL_ACTIVITY "GRAPH_TRACE";
constexpr const char* kCalls = TL_ACTIVITY "RUNTIME";
constexpr const char* kDriverCalls = TL_ACTIVITY "DRIVER";
#undef TL_ACTIVITY

using namespace nsight;

class NsightReader {
 public:
  // `seen`: sessions and processes that earlier files had; this one's are added.
  NsightReader(const DatabaseFile& file, Job& job, int threads, std::set<std::string>& seen)
      : file_{file},
        job_{job},
        threads_{threads},
        seen_{seen},
        earlier_{seen},
        copy_kinds_{job, file, "ENUM_CUDA_MEMCPY_OPER", kCopyKinds},
        memory_kinds_{job, file, "ENUM_CUDA_MEM_KIND", kMemoryKinds} {}

  void read(bool of_several) {
    for_each_row(job_, {file_, "TARGET_INFO_SESSION_START_TIME", {"utcEpochNs"}},
                 [&](const Statement& row) {
                   session_ = row.integer(0);
                   if (of_several) zero_ns_ = std::clamp<std::int64_t>(session_, 0, kLatestNs);
                 });
    if (!of_several && session_ != kAbsent)
      job_.builder().add_metadata("baseTimeNanoseconds", session_);
    if (of_several) find_machine();
    for (const char* const table : {"META_DATA_EXPORT", "EXPORT_META_DATA"})
      for_each_row(job_, {file_, table, {"name", "value"}}, [this](const Statement& row) {
        const std::string_view version = row.text(1), major = version.substr(0, version.find('.'));
        if (row.text(0) == "EXPORT_SCHEMA_VERSION" && major != "2" && major != "3")
          job_.warn("the schema has a version that is not known: what its columns tell was read");
      });
    if (!file_.is_row_number("StringIds", "id"))
      for_each_row(job_, {file_, "StringIds", {"id", "value"}}, [this](const Statement& row) {
        names_.set(row.integer(0), job_.intern(row.text(1)));
      });
    else
      find_name_.emplace(file_.connect(), "SELECT value FROM main.StringIds WHERE id = ?1");
    read_facts();
    expect_rows(
        job_, file_,
        std::array<std::string, 6>{kCalls, kDriverCalls, kKernels, kCopies, kFills, "NVTX_EVENTS"});
    read_calls(kCalls, 0);
    read_calls(kDriverCalls, kDriverClass);
    read_gpu_events();
    read_allocations();
    read_ranges();
    for (const char* const table : {"PROFILER_OVERHEAD", "CUPTI_ACTIVITY_KIND_OVERHEAD"})
      for_each_row(job_, {file_, table, {"start", "end", "globalTid", "nameId"}},
                   [this](const Statement& row) {
                     if (const Place place{row.integer(2)}; !is_repeated(place))
                       job_.add_overhead(name_of(row.integer(3)), track(place), at(row.integer(0)),
                                         at(row.integer(1)));
                   });
    read_graph_nodes();
    read_metrics();
    if (has_repeated_) job_.warn("a process that is in several files was read once");
    if (unread_payloads_ > 0)
      job_.warn("the message of a collective could not be read: its payload is of an unknown kind",
                unread_payloads_);
  }

 private:
  [[nodiscard]] std::int64_t at(std::int64_t ns) const {
    if (ns == kAbsent || ns > kLatestNs || ns < -kLatestNs) return kAbsent;
    return ns + zero_ns_;
  }
  // What is open when the recording ends, ends with the last call, range or GPU event.
  void extend_to(std::int64_t ns) { last_ns_ = std::max(last_ns_, ns); }
  StringId name_of(std::int64_t id) {
    if (const StringId* const known = names_.find(id)) return *known;
    StringId name;
    if (find_name_ && id != kAbsent) {
      find_name_->bind(1, id);
      if (find_name_->step()) name = job_.intern(find_name_->text(0));
      if (find_name_->is_damaged()) job_.lost("table StringIds is damaged: names are lost");
    }
    if (!name.valid()) name = job_.intern(fmt::format("string_{}", id == kAbsent ? 0 : id));
    names_.set(id, name);
    return name;
  }
  // What is known of a globalTid, or a globalPid; rows of one stand together.
  struct KnownPlace {
    bool is_repeated = false;
    std::int64_t process = kAbsent, space = kAbsent;
    TrackId track = {};  // once it was asked for
  };
  KnownPlace& known(const Place& place, std::int64_t global) {
    if (last_ != nullptr && last_global_ == global) return *last_;
    const auto [entry, is_new] = places_.try_emplace(global);
    KnownPlace& found = entry->second;
    if (is_new) {
      found.is_repeated = is_repeated(place);
      if (!found.is_repeated) {
        found.process = process(place);
        found.space = processes_[place.process].second;
      }
    }
    last_global_ = global;
    last_ = &found;
    return found;
  }
  TrackId track_of(KnownPlace& known, const Place& place) {
    if (!known.track.valid()) known.track = job_.thread(known.process, place.tid);
    return known.track;
  }
  std::int64_t process(const Place& place) {
    const auto [entry, is_new] = processes_.try_emplace(place.process);
    if (is_new)
      entry->second = {
          job_.process(machine_, place.pid(), host_, fmt::format("{}", place.machine())),
          job_.new_space()};
    return entry->second.first;
  }
  // Whether an earlier file of the job has the events of this process already.
  bool is_repeated(const Place& place) {
    if (session_ == kAbsent || !place.is_known) return false;
    if (const auto known = repeated_.find(place.process); known != repeated_.end())
      return known->second;
    const std::string key = fmt::format("{}/{}", session_, place.process);
    seen_.insert(key);
    const bool is = earlier_.contains(key);
    has_repeated_ = has_repeated_ || is;
    return repeated_[place.process] = is;
  }
  // Processes and GPUs of one report go by their numbers. Reports of several machines have the same ones:
  // there they are told apart by the host, or by the session where no host is named.
  void find_machine() {
    // Of all that is in this table, which is the whole environment, the name of the host alone is read.
    for_each_row(job_, {file_, "TARGET_INFO_SYSTEM_ENV", {"name", "value"}},
                 [this](const Statement& row) {
                   if (host_.empty() && io::lower_case(row.text(0)).ends_with("hostname"))
                     host_ = row.text(1);
                 });
    machine_ = !host_.empty() ? host_ : session_ == kAbsent ? "" : fmt::format("{}", session_);
  }
  std::int64_t name_gpu(std::int64_t id, std::string_view uuid, std::string_view bus) {
    if (machine_.empty() || id == kAbsent) return numbered_gpu(id);
    const std::string place = machine_ + "/" + std::string{bus};
    const std::string_view name = !uuid.empty() ? uuid : !bus.empty() ? place : std::string_view{};
    if (name.empty()) return numbered_gpu(id);
    return gpus_by_id_[id] = job_.named_gpu(name, id, host_);
  }
  // By its number in the report.
  std::int64_t numbered_gpu(std::int64_t id) {
    const auto [entry, is_new] = gpus_by_id_.try_emplace(id);
    if (is_new) entry->second = job_.gpu(machine_, id, host_);
    return entry->second;
  }

  TrackId track(const Place& place) { return job_.thread(process(place), place.tid); }

  void read_facts() {
    for_each_row(job_, {file_, "PROCESSES", {"globalPid", "name"}}, [this](const Statement& row) {
      if (const Place place{row.integer(0)}; place.is_known)
        job_.name_process(process(place), row.text(1));
    });
    for_each_row(job_, {file_, "ThreadNames", {"globalTid", "nameId"}},
                 [this](const Statement& row) {
                   const Place place{row.integer(0)};
                   if (place.is_known)
                     job_.name_thread(process(place), place.tid,
                                      job_.builder().text(name_of(row.integer(1))));
                 });
    for_each_row(job_, {file_, "TARGET_INFO_CUDA_DEVICE", {"pid", "cudaId", "gpuId"}},
                 [this](const Statement& row) {
                   gpus_[{row.integer(0), row.integer(1)}] = row.integer(2);
                 });
    for_each_row(
        job_,
        {file_,
         "TARGET_INFO_GPU",
         {"id", "name", "totalMemory", "smCount", "computeMajor", "computeMinor", "clockRate",
          "memoryBandwidth", "l2CacheSize", "uuid", "busLocation"}},
        [this](const Statement& row) {
          std::vector<std::pair<std::string, Value>> facts{{"name", std::string{row.text(1)}}};
          const auto add = [&](const char* key, int column) {
            if (row.integer(column) != kAbsent) facts.emplace_back(key, row.integer(column));
          };
          add("totalGlobalMem", 2);
          add("numSms", 3);
          add("computeMajor", 4);
          add("computeMinor", 5);
          add("clockRate", 6);
          add("memoryBandwidth", 7);
          add("l2CacheSize", 8);
          job_.describe_gpu(name_gpu(row.integer(0), row.text(9), row.text(10)), std::move(facts));
        });
    for_each_row(
        job_, {file_, "NVTX_PAYLOAD_SCHEMA_ENTRIES", {"schemaId", "type", "name", "offset"}},
        [this](const Statement& row) {
          const std::int64_t offset = row.integer(3);
          schemas_.add_entry(row.integer(0), {row.integer(1), std::string{row.text(2)},
                                              offset < 0 ? 0 : static_cast<std::uint64_t>(offset)});
        });
  }

  // --- calls ---
  void read_calls(const char* table, std::int64_t usual_class) {
    const TableColumns columns{
        file_, table, {"start", "end", "globalTid", "correlationId", "nameId", "eventClass"}};
    // A call that was recorded with its backtrace has a second row, a little wider.
    std::vector<CallRow> backtraces;
    note(job_, columns,
         read_table<CallRows>(
             columns, threads_, [] { return CallRows{}; },
             [&](CallRows& piece) {
               for (CallRow& row : piece.rows) {
                 if (row.call_class == kAbsent) row.call_class = usual_class;
                 if (row.call_class == kBacktraceClass)
                   backtraces.push_back(row);
                 else
                   add_call(row);
               }
             }));
    if (backtraces.empty()) return;
    std::set<std::pair<std::int64_t, std::int64_t>> others, twins;
    for (const CallRow& row : backtraces) others.emplace(row.thread, row.correlation);
    for_each_row(job_, {file_, table, {"globalTid", "correlationId", "eventClass"}},
                 [&](const Statement& row) {
                   const std::pair key{row.integer(0), row.integer(1)};
                   if (row.integer(2) != kBacktraceClass && others.contains(key)) twins.insert(key);
                 });
    for (const CallRow& row : backtraces)
      if (row.correlation != kAbsent && twins.contains({row.thread, row.correlation}))
        job_.count_no_event();
      else
        add_call(row);
    job_.tell_rows_without_times(table);
  }

  void add_call(const CallRow& row) {
    const Place place{row.thread};
    KnownPlace& where = known(place, row.thread);
    if (where.is_repeated) return;
    const bool is_driver = row.call_class == kDriverClass;
    const Job::Call call{.category = is_driver ? Category::kCudaDriver : Category::kCudaRuntime,
                         .domain = is_driver ? driver_ : runtime_,
                         .name = call_name(row.name),
                         .track = track_of(where, place),
                         .start_ns = at(row.start_ns),
                         .end_ns = at(row.end_ns),
                         .correlation = job_.correlation(where.space, row.correlation)};
    if (!job_.add_call(call)) return;
    extend_to(call.end_ns);
    if (place.is_known && last_caller_ != place.process)
      callers_.insert(last_caller_ = place.process);
  }
  StringId call_name(std::int64_t id) {
    if (last_call_.second.valid() && last_call_.first == id) return last_call_.second;
    const StringId* found = call_names_.find(id);
    if (found == nullptr) {
      const std::string name{plain_call(job_.builder().text(name_of(id)))};
      call_names_.set(id, job_.intern(name));
      found = call_names_.find(id);
    }
    last_call_ = {id, *found};
    return *found;
  }

  // --- GPU events ---
  // Processes number the GPUs that they see.
  std::int64_t gpu(const Place& place, std::int64_t own) {
    const std::int64_t pid = place.pid();
    if (last_gpu_ && last_gpu_->pid == pid && last_gpu_->own == own) return last_gpu_->number;
    const auto found = gpus_.find({pid, own});
    last_gpu_ = {pid, own, numbered_gpu(found == gpus_.end() ? own : found->second)};
    return last_gpu_->number;
  }
  template <class Add>
  void read_gpu_table(const char* table, std::vector<std::string_view> own, const Add& add) {
    TableColumns columns{file_, table, {kGpuColumns.begin(), kGpuColumns.end()}};
    const std::size_t own_columns = own.size();
    columns.columns.insert(columns.columns.end(), own.begin(), own.end());
    note(job_, columns,
         read_table<GpuRows>(
             columns, threads_,
             [&] {
               return GpuRows{{}, own_columns};
             },
             [&](GpuRows& piece) {
               for (const GpuRow& row : piece.rows) {
                 Place place{row.process};
                 // Old exports do not say whose it is; where one process has calls, it is that one's.
                 if (!place.is_known && callers_.size() == 1)
                   place.process = *callers_.begin();
                 else if (!place.is_known && processes_.size() == 1)
                   place.process = processes_.begin()->first;
                 // A guessed place is not that of the rows that do not tell theirs.
                 const KnownPlace& where =
                     known(place, place.is_known ? row.process : ~place.process);
                 if (where.is_repeated) continue;
                 if (row.start_ns == 0 && row.end_ns == 0) {  // the time is not known
                   job_.count_without_times();
                   continue;
                 }
                 Job::GpuEvent event{.process = where.process,
                                     .gpu = gpu(place, row.device),
                                     .stream = row.stream,
                                     .context = row.context,
                                     .start_ns = at(row.start_ns),
                                     .end_ns = at(row.end_ns),
                                     .correlation = job_.correlation(where.space, row.correlation)};
                 add(row.own, event);
                 if (job_.add_gpu_event(event)) extend_to(event.end_ns);
               }
             }));
  }
  using Own = std::array<std::int64_t, kOwnColumns>;

  void read_gpu_events() {
    read_gpu_table(kKernels,
                   {"demangledName", "shortName", "gridX", "gridY", "gridZ", "blockX", "blockY",
                    "blockZ", "registersPerThread", "staticSharedMemory", "dynamicSharedMemory",
                    "localMemoryPerThread", "graphNodeId", "graphId"},
                   [this](const Own& own, Job::GpuEvent& event) {
                     event.name = name_of(own[0] != kAbsent ? own[0] : own[1]);
                     event.details = kernel_details(own);
                   });
    read_gpu_table(kCopies, {"copyKind", "bytes", "srcKind", "dstKind", "graphNodeId"},
                   [this](const Own& own, Job::GpuEvent& event) {
                     const std::string kind = copy_kinds_.of(own[0]);
                     event.category = Category::kGpuMemcpy;
                     event.name = job_.intern("[CUDA memcpy " + kind + "]");
                     event.details = details_.of(key_of(1, own), [&] {
                       return job_.intern(object_of(text_member("kind", kind) +
                                                    text_member("src", memory_kinds_.of(own[2])) +
                                                    text_member("dst", memory_kinds_.of(own[3])) +
                                                    number_member("bytes", own[1])));
                     });
                   });
    read_gpu_table(kFills, {"bytes"}, [this](const Own& own, Job::GpuEvent& event) {
      event.category = Category::kGpuMemset;
      event.name = job_.intern("[CUDA memset]");
      event.details = details_.of(key_of(2, own), [&] {
        return job_.intern(
            object_of(text_member("kind", "Memset") + number_member("bytes", own[0])));
      });
    });
    bool has_graphs = false;
    read_gpu_table(kGraphs, {"graphId"}, [this, &has_graphs](const Own& own, Job::GpuEvent& event) {
      has_graphs = event.is_graph = true;
      event.name = job_.intern(fmt::format("CUDA graph {}", own[0] == kAbsent ? 0 : own[0]));
      event.details = details_.of(
          key_of(3, own), [&] { return job_.intern(object_of(number_member("graph", own[0]))); });
    });
    if (has_graphs)
      job_.warn(
          "graph launches are one event each: their kernels are not in the file; "
          "record with --cuda-graph-trace=node");
  }

  // What a row's details are made of, with what kind of row it is.
  static std::array<std::int64_t, kOwnColumns + 1> key_of(std::int64_t kind, const Own& own) {
    std::array<std::int64_t, kOwnColumns + 1> key{kind};
    std::ranges::copy(own, key.begin() + 1);
    return key;
  }

  StringId kernel_details(const Own& own) {
    auto key = key_of(0, own);
    key[1] = key[2] = 0;  // whatever its name
    return details_.of(key, [&] {
      std::string members;
      if (own[2] != kAbsent && own[5] != kAbsent)
        members = fmt::format(R"(,"grid":[{},{},{}],"block":[{},{},{}])", own[2], own[3], own[4],
                              own[5], own[6], own[7]);
      const auto known = [](std::int64_t bytes) { return std::max<std::int64_t>(bytes, 0); };
      members += number_member("registers per thread", own[8]);
      if (own[9] != kAbsent || own[10] != kAbsent)
        members += number_member("shared memory", known(own[9]) / 2 + known(own[10]) / 2 +
                                                      (known(own[9]) % 2 + known(own[10]) % 2));
      members += number_member("local memory", own[11]) + number_member("graph node", own[12]) +
                 number_member("graph", own[13]);
      return job_.intern(object_of(members));
    });
  }

  void read_allocations() {
    const TableColumns columns{
        file_,
        "CUDA_GPU_MEMORY_USAGE_EVENTS",
        {"start", "globalPid", "deviceId", "address", "bytes", "memKind", "memoryOperationType"}};
    for_each_row(job_, columns, [this](const Statement& row) {
      const Place place{row.integer(1)};
      if (is_repeated(place)) return;
      const std::string level = memory_kinds_.of(row.integer(5));
      job_.add_allocation({.track = track(place),
                           .what = row.integer(6) == 0 ? "ALLOC" : "FREE",
                           .level = level,
                           .gpu = gpu(place, row.integer(2)),
                           .address = row.integer(3),
                           .bytes = row.integer(4) == kAbsent ? 0 : row.integer(4),
                           .start_ns = at(row.integer(0)),
                           .end_ns = at(row.integer(0))});
    });
  }

  // --- ranges ---
  void read_ranges() {
    const TableColumns columns{file_, "NVTX_EVENTS", {kNvtxColumns.begin(), kNvtxColumns.end()}};
    std::vector<WaitingRow> waiting;
    note(job_, columns,
         read_table<NvtxRows>(
             columns, threads_, [this] { return NvtxRows{file_}; },
             [&](NvtxRows& piece) {
               for (NvtxRow& row : piece.rows) take_in(row, waiting);
             }));
    for (WaitingRow& each : waiting) {
      each.row.text = each.text;
      each.row.payload = each.payload;
      if (each.row.end_ns == kAbsent) each.row.end_ns = last_ns_;
      each.row.op = emitted_op(each.text);
      add_nvtx(each.row, each.event);
    }
    job_.end_ranges();
    job_.tell_rows_without_times(columns.table);
  }

  // Until the end of the recording is known, or the name of its domain.
  struct WaitingRow {
    NvtxRow row;
    std::string text, payload;
    EventId event = {};  // of a range that nests
  };

  void take_in(NvtxRow& row, std::vector<WaitingRow>& waiting) {
    const Place place{row.thread};
    if (is_repeated(place)) return;
    row.start_ns = at(row.start_ns);
    if (row.end_ns != kAbsent) row.end_ns = at(row.end_ns);
    // Whatever it is: the names of domains and threads are written when they are given.
    if (row.end_ns == kAbsent || row.end_ns >= row.start_ns)
      extend_to(std::max(row.start_ns, row.end_ns));
    if (row.type != kPushPop && row.type != kTextPushPop && row.type != kStartEnd &&
        row.type != kTextStartEnd && row.type != kMark && row.type != kDomain)
      return;
    if (!row.has_text) {
      row.text = job_.builder().text(name_of(row.text_id));
      row.op = emitted_op(row.text);
    }
    if (row.type == kDomain) {
      domains_[{place.process, row.domain}] = row.text;
      return;
    }
    const bool is_open = row.end_ns == kAbsent && row.type != kMark;
    const bool has_domain =
        row.domain == kAbsent || row.domain == 0 || domains_.contains({place.process, row.domain});
    if (!is_open && has_domain) return add_nvtx(row);
    EventId event;
    if (row.type == kPushPop || row.type == kTextPushPop) {
      event = job_.begin_range(range_of(row));
      if (!event.valid()) return;
    }
    waiting.push_back({row, std::string{row.text}, std::string{row.payload}, event});
  }

  [[nodiscard]] Job::Range range_of(const NvtxRow& row) {
    const Place place{row.thread};
    std::string_view domain;
    if (const auto found = domains_.find({place.process, row.domain}); found != domains_.end())
      domain = found->second;
    return {track_of(known(place, row.thread), place),
            domain,
            row.text,
            row.start_ns,
            row.end_ns,
            {},
            &row.op};
  }

  // `begun`: what stands in its place, where it had to wait.
  void add_nvtx(const NvtxRow& row, EventId begun = {}) {
    Job::Range range = range_of(row);
    if (row.type == kMark) return job_.add_mark(range);
    if (row.type == kStartEnd || row.type == kTextStartEnd) return job_.add_loose_range(range);
    const std::string payload =
        range.domain == "NCCL" ? message_members(row, row.text) : std::string{};
    range.details = payload;
    begun.valid() ? job_.end_range(begun, range) : job_.add_range(range);
  }

  // What NCCL says about a call of it: of which communicator, how much, from or to whom.
  [[nodiscard]] std::string message_members(const NvtxRow& row, std::string_view name) {
    const NvtxPayload payload = schemas_.read(row.payload);
    if (!row.payload.empty() && !payload.is_known) ++unread_payloads_;
    std::string communicator;
    if (const auto id = payload.number("NCCL communicator ID"))
      communicator = fmt::format("0x{:016x}", static_cast<std::uint64_t>(*id));
    const auto ranks = payload.number("No. of ranks"), rank = payload.number("Rank");
    if (ranks && rank && !communicator.empty() && name.starts_with("ncclCommInit"))
      job_.add_communicator(process(Place{row.thread}), communicator, *ranks, *rank);
    std::optional<std::int64_t> bytes = payload.number("Message size [bytes]");
    if (row.size != kAbsent) bytes = row.size;
    if (!bytes) return {};
    std::string members = text_member("collective", name) + number_member("message_bytes", *bytes);
    if (!communicator.empty()) members += text_member("communicator", communicator);
    if (const auto peer = payload.number("Peer rank")) members += number_member("peer", *peer);
    if (const auto root = payload.number("Root")) members += number_member("root", *root);
    return members;
  }

  // --- what is no call, range or GPU event ---
  void read_graph_nodes() {
    for (const char* const table : {"CUDA_GRAPH_NODE_EVENTS", "CUDA_GRAPH_EVENTS"})
      for_each_row(
          job_, {file_, table, {"start", "globalTid", "graphNodeId", "originalGraphNodeId"}},
          [this](const Statement& row) {
            const Place place{row.integer(1)};
            if (row.integer(2) == kAbsent || !place.is_known || is_repeated(place)) return;
            job_.add_graph_node(track(place), at(row.integer(0)), row.integer(2), row.integer(3));
          });
  }

  // Clocks, loads and rates of a GPU, read many times a second.
  void read_metrics() {
    std::map<std::pair<std::int64_t, std::int64_t>, std::string> names;
    for_each_row(job_, {file_, "TARGET_INFO_GPU_METRICS", {"typeId", "metricId", "metricName"}},
                 [&](const Statement& row) {
                   names[{row.integer(0), row.integer(1)}] = row.text(2);
                 });
    for_each_row(job_, {file_, "GPU_METRICS", {"timestamp", "typeId", "metricId", "value"}},
                 [&](const Statement& row) {
                   const auto name = names.find({row.integer(1), row.integer(2)});
                   const std::int64_t gpu =
                       row.integer(1) == kAbsent ? kAbsent : numbered_gpu(row.integer(1) & 0xff);
                   job_.add_sample(name != names.end() ? name->second
                                                       : fmt::format("metric {}", row.integer(2)),
                                   gpu, at(row.integer(0)), row.real(3));
                 });
  }

  const DatabaseFile& file_;
  Job& job_;
  int threads_;
  std::set<std::string>& seen_;  // session and process
  const std::set<std::string> earlier_;
  std::map<std::int64_t, bool> repeated_;  // by process
  bool has_repeated_ = false;
  std::uint64_t unread_payloads_ = 0;
  std::int64_t session_ = kAbsent;
  Labels copy_kinds_, memory_kinds_;
  std::string host_, machine_;  // of several files: who wrote this one
  std::int64_t zero_ns_ = 0;
  std::int64_t last_ns_ = std::numeric_limits<std::int64_t>::min() + 1;
  StringId runtime_ = job_.intern("runtime"), driver_ = job_.intern("driver");
  ById<StringId> names_, call_names_;  // by id of StringIds
  std::optional<Statement> find_name_;
  std::map<std::int64_t, std::pair<std::int64_t, std::int64_t>> processes_;  // -> number, space
  std::set<std::int64_t> callers_;                                           // processes with calls
  std::int64_t last_caller_ = kAbsent;
  std::unordered_map<std::int64_t, KnownPlace> places_;  // by globalTid
  KnownPlace* last_ = nullptr;                           // the one of the row before
  std::int64_t last_global_ = 0;
  struct OwnGpu {
    std::int64_t pid, own, number;
  };
  std::optional<OwnGpu> last_gpu_;
  std::pair<std::int64_t, StringId> last_call_ = {};
  std::map<std::pair<std::int64_t, std::int64_t>, std::int64_t>
      gpus_;                                         // (pid, its own number) -> id
  std::map<std::int64_t, std::int64_t> gpus_by_id_;  // -> number in the trace
  TextsByNumbers details_;
  NvtxSchemas schemas_;
  std::map<std::pair<std::int64_t, std::int64_t>, std::string> domains_;  // by process and id
};

}  // namespace

bool is_nsight(const DatabaseFile& file) {
  if (!file.has("StringIds")) return false;
  for (const char* const table : {"NVTX_EVENTS", "META_DATA_EXPORT", "EXPORT_META_DATA"})
    if (file.has(table)) return true;
  return std::ranges::any_of(file.tables(), [](const auto& table) {
    return io::lower_case(table.first).starts_with("cupti_activity_kind_");
  });
}

void read_nsight(const DatabaseFile& file, Job& job, int threads, bool of_several,
                 std::set<std::string>& seen) {
  NsightReader{file, job, threads, seen}.read(of_several);
}

}  // namespace tracelens
