// job.hpp: what the databases of one job tell, as events of one trace.
//   Job job{builder, options};
//   const std::int64_t process = job.process("node-a", 4101), gpu = job.gpu("node-a", 1);
//   job.add_call({.category = Category::kCudaRuntime, .domain = "HIP_RUNTIME_API", .name = name,
//                 .track = job.thread(process, 17), .start_ns = 5, .end_ns = 9,
//                 .correlation = job.correlation(space, 12)});
//   job.finish();
// Numbers mean something inside their process only: processes, GPUs, streams and launches of several
// processes and machines get numbers that tell them apart. The first who asks keeps its own.
#pragma once

#include <cstdint>
#include <map>
#include <set>
#include <string>
#include <string_view>
#include <tracelens/read_trace.hpp>
#include <tracelens/trace_builder.hpp>
#include <tuple>
#include <unordered_map>
#include <utility>
#include <vector>

#include "readers/database/emit_text.hpp"
#include "trace/string_table.hpp"

namespace tracelens {

class Job {
 public:
  Job(TraceBuilder& builder, const ReadOptions& options);

  // --- numbers in the whole trace ---
  // `machine` tells machines apart; people know it by the name of its host. `recording` tells processes
  // apart that have one pid, as those of several containers have.
  std::int64_t process(std::string_view machine, std::int64_t pid, std::string_view host = {},
                       std::string_view recording = {});
  std::int64_t gpu(std::string_view machine, std::int64_t index,
                   std::string_view host = {});  // kAbsent stays
  // The same for a GPU that has a name in the whole world; `index` is what people call it.
  std::int64_t named_gpu(std::string_view name, std::int64_t index, std::string_view host = {});
  [[nodiscard]] std::size_t machines() const;     // of the processes
  std::int64_t new_space() { return spaces_++; }  // of correlation ids: one for each process
  std::int64_t correlation(std::int64_t space, std::int64_t own);
  TrackId thread(std::int64_t process, std::int64_t tid);

  // --- facts ---
  // What the profiler or a library says about the place of a process in the job; the first word stays.
  void set_rank(std::int64_t process, std::int64_t rank, std::int64_t world_size);
  void set_command(std::int64_t process, std::string_view command);
  // A communicator, as its ranks number themselves in it.
  void add_communicator(std::int64_t process, std::string_view id, std::int64_t size,
                        std::int64_t rank);
  // The first properties of a GPU stay; "id" and what tells it apart are added.
  void describe_gpu(std::int64_t gpu, std::vector<std::pair<std::string, Value>> properties);
  void name_thread(std::int64_t process, std::int64_t tid, std::string_view name);
  void name_process(std::int64_t process, std::string_view name);

  // --- events; one whose end is before its start, or whose times are none, is none ---
  struct Call {
    Category category = Category::kCudaRuntime;
    StringId domain = {};  // whose call it is, in the profiler's words
    StringId name = {};
    TrackId track = {};
    std::int64_t start_ns = kAbsent, end_ns = kAbsent, correlation = kAbsent;
  };
  bool add_call(const Call& call);  // whether it is one; so below
  struct Range {
    TrackId track = {};
    std::string_view domain = {}, text = {};
    std::int64_t start_ns = kAbsent, end_ns = kAbsent;
    std::string_view details = {};  // members of a JSON object, each behind a comma
    const EmittedOp* op = nullptr;  // what the text says, where that is known already
  };
  void add_range(const Range& range);  // nests on its thread: an op, or a range of the user's
  // One whose domain or end (kAbsent) is told later has its place among the others; invalid: it is no event.
  [[nodiscard]] EventId begin_range(const Range& range);
  void end_range(EventId event, const Range& range);
  void end_ranges();  // when all are there, before events of another kind are added
  void add_loose_range(const Range& range);  // may cross threads: nobody's parent
  void add_mark(const Range& mark);          // at its start
  struct GpuEvent {
    Category category = Category::kKernel;
    bool is_graph = false;  // stands for all the work of a graph launch
    StringId name = {};
    std::int64_t process = 0;  // whose stream it is
    std::int64_t gpu = kAbsent, stream = kAbsent;
    std::int64_t context = kAbsent;  // numbers of streams mean something inside one
    std::int64_t start_ns = kAbsent, end_ns = kAbsent, correlation = kAbsent;
    StringId details = {};
  };
  bool add_gpu_event(const GpuEvent& event);
  // Of memory on a GPU: `what` is ALLOC, FREE or another word of the profiler's.
  struct Allocation {
    TrackId track = {};
    std::string_view what = {}, level = {};
    std::int64_t gpu = kAbsent, address = kAbsent, bytes = 0, start_ns = kAbsent, end_ns = kAbsent;
  };
  void add_allocation(const Allocation& allocation);
  // A node of a graph came to be: by itself, or as a copy of `original`.
  void add_graph_node(TrackId track, std::int64_t at_ns, std::int64_t node, std::int64_t original);
  // A value at a time: of a clock, a sensor, a counter that was read while kernels ran.
  void add_sample(std::string_view counter, std::int64_t gpu, std::int64_t at_ns, double value);
  bool add_overhead(StringId name, TrackId track, std::int64_t start_ns, std::int64_t end_ns);

  // --- what does not become an event ---
  // From now on rows are of this process; where that is not said, nobody counts them by process.
  void count_for(std::int64_t process) {
    counting_ = process;
    places_.try_emplace(process);
  }
  void count_no_event(std::uint64_t count = 1) {
    no_events_ += count;
    if (counting_ != kAbsent) places_[counting_].no_events += count;
  }
  void count_without_times() {
    count_no_event();
    ++without_times_;
  }
  // A word on those that were counted, or handed in as events, since the last time.
  void tell_rows_without_times(std::string_view table);
  void count_samples(std::uint64_t count) {
    samples_ += count;
    if (counting_ != kAbsent) places_[counting_].samples += count;
  }
  void warn(std::string_view what, std::uint64_t count = 1);
  // Part of the file could not be read: a sentence. The trace is then cut short.
  void lost(std::string_view what);
  [[nodiscard]] bool has_lost() { return builder_.source().cut_short; }
  // The table is damaged behind `rows` of its rows, the last of which has the number `last`.
  void lost_rows(std::string_view table, std::uint64_t rows, std::int64_t last);
  void passed_over_rows(std::string_view table, std::uint64_t rows, std::uint64_t places);

  void finish();

  [[nodiscard]] TraceBuilder& builder() { return builder_; }
  [[nodiscard]] const ReadOptions& options() const { return options_; }
  // What is no UTF-8 is replaced.
  StringId intern(std::string_view text);
  void progress(double fraction);

 private:
  EventId append(Category category, StringId name, TrackId track, std::int64_t start_ns,
                 std::int64_t end_ns, std::int64_t correlation = kAbsent);
  [[nodiscard]] bool is_event(std::int64_t start_ns, std::int64_t end_ns);
  struct Named {
    std::string domain, plain, sizes;  // what it is found by
    bool is_op = false;
    StringId name;
    SignatureId signature;
    std::string domain_member;  // of the details of an op in a domain
    StringId details;           // with nothing else in them
  };
  const Named& named_op(std::string_view domain, const EmittedOp& op);
  EventId append_range(const Range& range, const EmittedOp& op);
  void name_range(EventId event, const Range& range, const EmittedOp& op);
  [[nodiscard]] Value assumed_types(const Value& dims) const;
  struct GpuTrack {
    TrackId id;
    std::int64_t stream = 0;
  };
  const GpuTrack& gpu_track(const GpuEvent& event);
  [[nodiscard]] Value streams_value() const;
  [[nodiscard]] Value processes_value() const;
  // Ranks by process; those of a job that names none are counted by machine and pid.
  [[nodiscard]] std::map<std::int64_t, std::int64_t> ranks() const;
  [[nodiscard]] Value series_value() const;

  TraceBuilder& builder_;
  const ReadOptions& options_;
  std::string assumed_type_;  // as PyTorch writes it; empty: none
  struct Numbered {
    std::int64_t number = 0;
    std::string host;
    std::int64_t index = kAbsent;  // in its machine
  };
  // by machine, pid and recording
  std::map<std::tuple<std::string, std::int64_t, std::string>, Numbered> processes_;
  std::map<std::pair<std::string, std::int64_t>, Numbered> gpus_;  // by machine and own number
  std::set<std::int64_t> process_numbers_, gpu_numbers_;
  std::map<std::int64_t, std::vector<std::pair<std::string, Value>>> gpu_facts_;
  // by process, GPU, stream and context
  std::map<std::tuple<std::int64_t, std::int64_t, std::int64_t, std::int64_t>, GpuTrack>
      gpu_tracks_;
  std::map<std::int64_t, std::set<std::int64_t>> streams_;  // numbers, by GPU
  std::map<std::pair<std::int64_t, std::int64_t>, TrackId> threads_;
  std::int64_t spaces_ = 0;
  std::map<std::pair<std::int64_t, std::int64_t>, std::int64_t> odd_correlations_;
  struct Communicator {
    std::int64_t size = kAbsent, rank = kAbsent;
  };
  struct Place {  // of a process in the job
    std::int64_t rank = kAbsent, world_size = kAbsent;
    std::string command;
    std::map<std::string, Communicator, std::less<>> communicators;
    std::uint64_t no_events = 0, samples = 0;
  };
  std::map<std::int64_t, Place> places_;
  struct Series {
    std::int64_t samples = 0, first_ns = 0, last_ns = 0;
    double sum = 0, least = 0, most = 0;
  };
  std::map<std::pair<std::string, std::int64_t>, Series> series_;  // by counter and GPU
  StringId graph_, loose_, mark_, allocation_, node_, counter_;
  std::uint64_t kept_samples_ = 0;
  std::int64_t counting_ = kAbsent;
  std::uint64_t no_events_ = 0, without_times_ = 0, samples_ = 0;
  IdIndex named_index_;
  std::vector<Named> named_;
  std::vector<std::pair<EventId, StringId>> range_details_;  // until the names of domains are known
  bool has_untyped_ops_ = false;
};

// A member of a JSON object behind a comma: `,"bytes":4096`; nothing for kAbsent.
[[nodiscard]] std::string number_member(std::string_view key, std::int64_t value);
[[nodiscard]] std::string text_member(std::string_view key, std::string_view value);
// The members as an object, without the first comma.
[[nodiscard]] std::string object_of(std::string_view members);

}  // namespace tracelens
