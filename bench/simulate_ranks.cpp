// simulate_ranks: the report of a job of many ranks from rank summaries that are made up, for more ranks
// than there are traces. All but the reading of traces is what `tracelens collectives` does.
//   simulate_ranks --ranks 16384 --collectives 300 [-o OUT/] [--detail]
//   mpirun -n 4 simulate_ranks --ranks 16384
// Prints, for every process and every time they meet, what it computed before and what it sent, and
// for each process its peak memory. With -o the tables are written, for comparing them.
#include <fmt/format.h>
#include <sys/resource.h>

#include <CLI/CLI.hpp>
#include <chrono>
#include <cstdint>
#include <cstdlib>
#include <ctime>
#include <exception>
#include <iterator>
#include <memory>
#include <optional>
#include <string>
#include <tracelens/collectives.hpp>
#include <tracelens/sinks.hpp>
#include <type_traits>
#include <vector>

#include "analysis/ranks/rank_bytes.hpp"
#include "analysis/ranks/rank_trace.hpp"
#include "report/recipes/rank_report.hpp"

#ifdef TL_HAS_MPI
extern "C" tracelens::Peers* tracelens_mpi_peers();
#endif

namespace tracelens {
namespace {

struct Job {
  std::int64_t ranks = 16384, collectives = 300, stretches = 2000, tensor = 8, pipeline = 8;
};

double cpu_seconds() {
  timespec now{};
  clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &now);
  return static_cast<double>(now.tv_sec) + static_cast<double>(now.tv_nsec) / 1e9;
}

double wall_seconds() {
  return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count();
}

std::int64_t peak_kilobytes() {
  rusage usage{};
  getrusage(RUSAGE_SELF, &usage);
  return usage.ru_maxrss;
}

// Ranks as trainings arrange them: tensor parallel inside a machine, then pipeline, then data.
class SummaryMaker {
 public:
  explicit SummaryMaker(const Job& job) : job_{job} {}

  [[nodiscard]] RankTrace make(std::int64_t rank) {
    RankTrace trace;
    trace.rank = rank;
    trace.declared_rank = rank;
    trace.file = fmt::format("rank{}_trace.json.gz", rank);
    trace.format = "kineto";
    trace.device_name = "NVIDIA H200";
    trace.device_count = 8;
    trace.world_size = job_.ranks;
    trace.events = 250'000;
    trace.text_bytes = 100'000'000;
    const std::int64_t tensor = job_.tensor, stage = tensor * job_.pipeline;
    const std::int64_t column = rank % tensor, block = rank / stage;
    groups_[kWorld] = {"0", 0, 1, job_.ranks};
    groups_[kTensor] = {fmt::format("{}", 1 + rank / tensor), rank - column, 1, tensor};
    groups_[kPipe] = {fmt::format("pipe_{}_{}", block, column), block * stage + column, tensor,
                      job_.pipeline};
    groups_[kData] = {fmt::format("data_{}", rank % stage), rank % stage, stage,
                      job_.ranks / stage};
    for (const Group& group : groups_)
      trace.groups.push_back({group.name, RankRuns{group.members()}});
    add_kernels(trace, rank);
    add_activity(trace, rank);
    return trace;
  }

 private:
  struct Group {
    std::string name;
    std::int64_t first = 0, step = 1, size = 0;
    [[nodiscard]] std::vector<std::int64_t> members() const {
      std::vector<std::int64_t> all;
      for (std::int64_t i = 0; i < size; ++i) all.push_back(first + i * step);
      return all;
    }
    // As the profiler writes it: a long list is cut.
    [[nodiscard]] std::string text() const {
      if (size > 30)
        return fmt::format("[{}, {}, ..., {}]", first, first + step, first + (size - 1) * step);
      return fmt::format("[{}]", fmt::join(members(), ", "));
    }
  };
  enum { kWorld, kTensor, kPipe, kData, kGroups };

  std::uint32_t message(RankTrace& trace, const Group& group, const char* name, std::int64_t sent,
                        std::int64_t received) const {
    CollectiveMessage message;
    message[CollectiveField::kGroupName] = group.name;
    message[CollectiveField::kGroupRanks] = group.text();
    message[CollectiveField::kCollective] = name;
    message[CollectiveField::kGroupSize] = group.size;
    message[CollectiveField::kDtype] = "BFloat16";
    message[CollectiveField::kInElements] = sent;
    message[CollectiveField::kOutElements] = received;
    message[CollectiveField::kInSplit] = "[]";
    message[CollectiveField::kOutSplit] = "[]";
    message.stream = 20;
    trace.messages.push_back(std::move(message));
    return static_cast<std::uint32_t>(trace.messages.size() - 1);
  }

  // Two thirds in the tensor group, a few of the world, some of the data group, and a pipeline that
  // sends to the next stage and receives from the one before.
  void add_kernels(RankTrace& trace, std::int64_t rank) const {
    const std::int64_t stage = rank / job_.tensor % job_.pipeline;
    const std::uint32_t gather =
                            message(trace, groups_[kTensor], "_allgather_base", 1 << 18, 1 << 21),
                        scatter = message(trace, groups_[kTensor], "_reduce_scatter_base", 1 << 21,
                                          1 << 18),
                        reduce = message(trace, groups_[kData], "allreduce", 1 << 22, 1 << 22),
                        norm = message(trace, groups_[kWorld], "allreduce", 1, 1),
                        send = message(trace, groups_[kPipe], "send", 1 << 20, 1 << 20),
                        receive = message(trace, groups_[kPipe], "recv", 1 << 20, 1 << 20);
    std::int64_t counts[kGroups] = {};
    std::uint64_t noise = static_cast<std::uint64_t>(rank) * 0x9E3779B97F4A7C15U + 1;
    const auto random = [&](std::uint64_t below) {
      noise ^= noise << 13;
      noise ^= noise >> 7;
      noise ^= noise << 17;
      return static_cast<std::int64_t>(noise % below);
    };
    for (std::int64_t i = 0; i < job_.collectives; ++i) {
      const std::int64_t start = 1'000'000 * (i + 1), arrival = start + random(90'000);
      CollectiveKernel kernel{.ts_ns = arrival, .dur_ns = start + 150'000 - arrival};
      int group = kTensor;
      kernel.message = i % 2 == 0 ? gather : scatter;
      if (i % 12 == 9) {
        group = kData;
        kernel.message = reduce;
      } else if (i % 12 == 10 && i % 24 == 10) {
        group = kWorld;
        kernel.message = norm;
      } else if (i % 12 == 11) {
        const bool sends = stage % 2 == 0;  // pairs of stages
        if (job_.pipeline < 2) continue;
        group = kPipe;
        kernel.message = sends ? send : receive;
        kernel.peer = sends ? rank + job_.tensor : rank - job_.tensor;
      }
      kernel.sequence = ++counts[group];
      kernel.exposed_ns = kernel.dur_ns - random(static_cast<std::uint64_t>(kernel.dur_ns));
      trace.kernels.push_back(kernel);
    }
  }

  void add_activity(RankTrace& trace, std::int64_t rank) const {
    for (int i = 0; i < 60; ++i)
      trace.activity.texts.push_back(fmt::format("aten::mm in Linear_{}", i));
    const std::int64_t end = 1'000'000 * (job_.collectives + 1);
    const std::int64_t step = end / std::max<std::int64_t>(1, job_.stretches);
    for (std::int64_t i = 0; i < job_.stretches; ++i)
      trace.activity.stretches.push_back({i * step, i * step + step - 700 - (i + rank) % 997,
                                          static_cast<std::uint32_t>((i * 7 + rank) % 60)});
    for (const char* const name : {"all", "ProfilerStep#1", "ProfilerStep#2"})
      trace.steps.push_back({.name = name,
                             .total_ns = end,
                             .computation_ns = end / 2 + rank % 100,
                             .exposed_comm_ns = end / 4,
                             .idle_ns = end / 4 - rank % 100,
                             .comm_ns = end / 3});
  }

  Job job_;
  Group groups_[kGroups];
};

// What a process did until it met the others, and what it gave them then.
struct Meeting {
  std::string what;
  double wall_s = 0, cpu_s = 0;  // computing before it
  double waited_s = 0;           // in it, moving bytes included
  std::uint64_t sent = 0;        // to other processes
};

// What the meetings of a report are for, in their order.
constexpr const char* kMeetings[] = {
    "heads, to the first",           "heads, to all",
    "names of groups, to the first", "groups, to all",
    "kernels, to their groups",      "places, to the first",
    "summaries, to the first",       "questions about ranks",
    "answers, to the first",         "the end of questions",
};

class CountingPeers : public Peers {
 public:
  explicit CountingPeers(std::unique_ptr<Peers> peers) : peers_{std::move(peers)} { restart(); }
  [[nodiscard]] int index() const override { return peers_ ? peers_->index() : 0; }
  [[nodiscard]] int count() const override { return peers_ ? peers_->count() : 1; }
  [[nodiscard]] std::string broadcast(std::string bytes) override {
    const auto others = static_cast<std::uint64_t>(index() == 0 ? count() - 1 : 0);
    return met("broadcast", others * bytes.size(),
               [&] { return peers_->broadcast(std::move(bytes)); });
  }
  [[nodiscard]] std::vector<std::string> gather(std::string bytes) override {
    return met("gather", index() == 0 ? 0 : bytes.size(),
               [&] { return peers_->gather(std::move(bytes)); });
  }
  [[nodiscard]] std::vector<std::string> exchange(std::vector<std::string> bytes) override {
    std::uint64_t sent = 0;
    for (std::size_t i = 0; i < bytes.size(); ++i)
      if (static_cast<int>(i) != index()) sent += bytes[i].size();
    return met("exchange", sent, [&] { return peers_->exchange(std::move(bytes)); });
  }
  [[noreturn]] void abandon() override {
    if (peers_) peers_->abandon();
    std::abort();
  }

  void note(const std::string& what) {
    meetings.push_back({what, wall_seconds() - wall_, cpu_seconds() - cpu_});
    restart();
  }
  std::vector<Meeting> meetings;

 private:
  template <class Work>
  std::invoke_result_t<Work> met(const char* what, std::uint64_t sent, const Work& work) {
    const bool is_known = count_ < std::size(kMeetings);
    note(is_known ? kMeetings[count_++] : what);
    const double before = wall_seconds();
    auto result = work();
    meetings.back().sent = sent;
    meetings.back().waited_s = wall_seconds() - before;
    restart();
    return result;
  }
  void restart() {
    wall_ = wall_seconds();
    cpu_ = cpu_seconds();
  }
  std::unique_ptr<Peers> peers_;
  double wall_ = 0, cpu_ = 0;
  std::size_t count_ = 0;
};

// As lines, from every process to the first.
void tell(CountingPeers& peers, std::size_t own_ranks) {
  std::string lines;
  std::uint64_t sent = 0;
  double cpu = 0;
  for (const Meeting& meeting : peers.meetings) {
    lines += fmt::format("{:>8}  {:<34}{:>9.3f} s{:>9.3f} s{:>9.3f} s{:>12.3f} MB\n", peers.index(),
                         meeting.what, meeting.wall_s, meeting.cpu_s, meeting.waited_s,
                         static_cast<double>(meeting.sent) / 1e6);
    sent += meeting.sent;
    cpu += meeting.cpu_s;
  }
  lines += fmt::format("{:>8}  all: {} ranks, CPU {:.3f} s, sent {:.3f} MB, peak {:.1f} MB\n",
                       peers.index(), own_ranks, cpu, static_cast<double>(sent) / 1e6,
                       static_cast<double>(peak_kilobytes()) / 1e3);
  const std::vector<std::string> all =
      peers.count() == 1 ? std::vector{lines} : peers.gather(lines);
  if (peers.index() != 0) return;
  fmt::print("{:>8}  {:<34}{:>11}{:>11}{:>11}{:>15}\n", "process", "until", "wall", "CPU", "waited",
             "sent");
  for (const std::string& of_process : all) fmt::print("{}", of_process);
}

// What a summary takes, by its parts.
void tell_sizes(const RankTrace& rank) {
  RankTrace without = rank;
  const auto size = [&] { return to_bytes(std::span{&without, 1}).size(); };
  const std::size_t whole = size();
  without.activity = {};
  const std::size_t handed = size();
  without.kernels.clear();
  const std::size_t head = size();
  fmt::print(
      "a rank's summary: {} bytes; of these {} for its {} kernels, {} for what it was doing "
      "({} stretches), {} for the rest\n\n",
      whole, handed - head, rank.kernels.size(), whole - handed, rank.activity.stretches.size(),
      head);
}

int simulate(const Job& job, const std::string& output, bool detailed) {
  std::unique_ptr<Peers> started;
#ifdef TL_HAS_MPI
  started.reset(tracelens_mpi_peers());
#endif
  CountingPeers peers{std::move(started)};
  std::vector<RankFile> files;
  for (std::int64_t rank = 0; rank < job.ranks; ++rank)
    files.push_back({fmt::format("rank{}_trace.json.gz", rank), rank});
  std::size_t own_ranks = 0;
  const auto summarize = [&](std::span<const RankFile> share) {
    SummaryMaker maker{job};
    std::vector<RankTrace> ranks;
    for (const RankFile& file : share) {
      ranks.push_back(maker.make(*file.rank));
      ranks.back().source = static_cast<std::uint32_t>(ranks.size() - 1);
    }
    own_ranks = ranks.size();
    if (peers.index() == 0) tell_sizes(ranks.front());
    peers.note("summaries are made (no part of it)");
    return ranks;
  };
  CollectiveReportOptions options;
  options.detailed = detailed;
  options.gpus_per_node = 8;
  const auto report = report_of_summaries(files, options, &peers, summarize);
  peers.note("the report is made");
  if (report && !output.empty()) {
    write_report(*report, output, "collectives");
    peers.note("the report is written");
  }
  if (report)
    for (const std::string& warning : report->warnings) fmt::print("warning: {}\n", warning);
  tell(peers, own_ranks);
  return 0;
}

}  // namespace
}  // namespace tracelens

int main(int argc, char** argv) {
  CLI::App app{"The report of a job of many ranks from summaries that are made up"};
  tracelens::Job job;
  std::string output;
  bool detailed = false;
  app.add_option("--ranks", job.ranks, "Ranks")->capture_default_str();
  app.add_option("--collectives", job.collectives, "Kernels of each rank")->capture_default_str();
  app.add_option("--stretches", job.stretches, "Stretches of activity of each rank")
      ->capture_default_str();
  app.add_option("-o,--output", output, "A folder for the tables");
  app.add_flag("--detail", detailed, "The tables with a row per kernel too");
  CLI11_PARSE(app, argc, argv);
  try {
    return tracelens::simulate(job, output, detailed);
  } catch (const std::exception& error) {
    fmt::print(stderr, "simulate_ranks: {}\n", error.what());
    return 2;
  }
}
