#include "report/import/ranks_together.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <exception>
#include <map>
#include <new>
#include <optional>
#include <string_view>
#include <tracelens/error.hpp>
#include <utility>

#include "analysis/ranks/device_groups.hpp"
#include "analysis/ranks/rank_bytes.hpp"

namespace tracelens {
namespace {

// What comes first in what a process hands over, and in what the first tells all.
constexpr char kIsRanks = '+', kIsProblem = '!';

// What is known of a rank before its kernels are looked at.
RankTrace head_of(const RankTrace& rank) {
  RankTrace head;
  head.rank = rank.rank;
  head.file = rank.file;
  head.source = rank.source;
  head.part = rank.part;
  head.gpu = rank.gpu;
  head.format = rank.format;
  head.problem = rank.problem;
  head.warnings = rank.warnings;
  head.declared_rank = rank.declared_rank;
  head.world_size = rank.world_size;
  head.device_count = rank.device_count;
  head.base_ns = rank.base_ns;
  head.events = rank.events;
  return head;
}

class ReadingTogether {
 public:
  ReadingTogether(const std::vector<RankFile>& files, const RankJob& job, Peers& peers)
      : files_{files},
        job_{job},
        peers_{peers},
        index_{static_cast<std::size_t>(peers.index())},
        count_{static_cast<std::size_t>(peers.count())} {}

  RanksTogether read() {
    std::vector<RankTrace> heads = share_heads(read_own());
    assign_ranks(heads, files_, job_.assignment, out_.warnings);
    refuse_no_ranks(heads, out_.warnings);
    if (job_.hides_files) forget_files(files_, heads, out_.warnings);
    const std::vector<std::int64_t> shifts = base_shifts(heads, job_.edition, out_.warnings);
    keep_own(heads, shifts);
    out_.matching = match_together(out_.share(), peers_);
    hand_over();
    return std::move(out_);
  }

 private:
  // Heads as bytes, or why reading failed. A process that fails hands that over, as the first one
  // waits for something from everyone.
  std::string read_own() {
    std::vector<RankFile> share;
    for (std::size_t i = index_; i < files_.size(); i += count_) share.push_back(files_[i]);
    try {
      out_.own = job_.summarize(share);
      std::vector<RankTrace> heads;
      for (RankTrace& rank : out_.own) {
        rank.source = static_cast<std::uint32_t>(index_ + rank.source * count_);
        heads.push_back(head_of(rank));
      }
      return kIsRanks + to_bytes(heads);
    } catch (const std::bad_alloc&) {
      return std::string{kIsProblem} + "not enough memory";
    } catch (const std::exception& error) {
      return kIsProblem + std::string{error.what()};
    }
  }

  // Those of all processes, in the order of the files.
  std::vector<RankTrace> share_heads(std::string own) {
    const std::vector<std::string> parts = peers_.gather(std::move(own));
    const std::string bytes = peers_.broadcast(index_ == 0 ? all_heads(parts) : "");
    const std::string_view told{bytes};
    if (told.starts_with(kIsProblem)) {
      const std::size_t colon = told.find(": ");
      throw Error{std::string{told.substr(1, colon - 1)}, told.substr(colon + 2)};
    }
    return ranks_from_bytes(told.substr(1));
  }

  static std::string all_heads(std::span<const std::string> parts) {
    std::vector<RankTrace> heads;
    for (std::size_t process = 0; process < parts.size(); ++process) {
      if (parts[process].front() == kIsProblem)
        return fmt::format("{}process {}: {}", kIsProblem, process, parts[process].substr(1));
      for (RankTrace& head : ranks_from_bytes(std::string_view{parts[process]}.substr(1)))
        heads.push_back(std::move(head));
    }
    std::ranges::stable_sort(heads, {}, &RankTrace::source);
    return kIsRanks + to_bytes(heads);
  }

  // Of what was read here, the ranks of the run, with the numbers and times they have in it.
  void keep_own(std::span<const RankTrace> heads, std::span<const std::int64_t> shifts) {
    std::map<std::pair<std::uint32_t, std::uint32_t>, RankTrace*> read;
    for (RankTrace& rank : out_.own) read[{rank.source, rank.part}] = &rank;
    std::vector<RankTrace> kept;
    std::vector<std::int64_t> numbers;
    for (std::uint32_t i = 0; i < heads.size(); ++i) {
      const RankTrace& head = heads[i];
      numbers.push_back(head.rank);
      out_.process_of.push_back(static_cast<int>(head.source % count_));
      if (out_.process_of.back() != peers_.index()) continue;
      RankTrace& rank = kept.emplace_back(std::move(*read.at({head.source, head.part})));
      rank.rank = head.rank;
      rank.declared_rank = head.declared_rank;
      rank.file = head.file;
      out_.indices.push_back(i);
      if (!shifts.empty()) shift_times(rank, shifts[i]);
    }
    out_.own = std::move(kept);
    resolve_device_groups(out_.own, std::move(numbers), job_.assignment.world_size);
  }

  void hand_over() {
    for (RankTrace& rank : out_.own) rank.groups.clear();  // the matching knows them
    std::vector<RankActivity> activities;
    for (RankTrace& rank : out_.own) activities.push_back(std::exchange(rank.activity, {}));
    std::vector<std::string> parts =
        peers_.gather(index_ == 0 ? std::string{} : to_bytes(out_.own));
    if (index_ == 0) {
      out_.all.resize(out_.process_of.size());
      for (std::size_t i = 0; i < out_.own.size(); ++i)
        out_.all[out_.indices[i]] = std::move(out_.own[i]);
      for (std::size_t process = 1; process < count_; ++process) take(process, parts[process]);
    }
    for (std::size_t i = 0; i < out_.own.size(); ++i) {
      out_.own[i] = {};
      out_.own[i].activity = std::move(activities[i]);
    }
  }

  // What a process read, in the order of its ranks.
  void take(std::size_t process, std::string& bytes) {
    std::vector<RankTrace> ranks = ranks_from_bytes(bytes);
    std::string{}.swap(bytes);
    std::size_t next = 0;
    for (std::size_t i = 0; i < out_.all.size(); ++i)
      if (out_.process_of[i] == static_cast<int>(process)) out_.all[i] = std::move(ranks[next++]);
  }

  const std::vector<RankFile>& files_;
  const RankJob& job_;
  Peers& peers_;
  std::size_t index_, count_;
  RanksTogether out_;
};

}  // namespace

RanksTogether read_ranks_together(const std::vector<RankFile>& files, const RankJob& job,
                                  Peers& peers) {
  return ReadingTogether{files, job, peers}.read();
}

void forget_files(std::span<const RankFile> files, std::span<RankTrace> ranks,
                  std::span<std::string> warnings) {
  for (std::string& warning : warnings)
    for (const RankFile& file : files)
      for (std::size_t at = 0; (at = warning.find(file.path, at)) != std::string::npos;)
        warning.replace(at, file.path.size(), "a file");
  for (RankTrace& rank : ranks) rank.file = fmt::format("rank {}", rank.rank);
}

void refuse_no_ranks(std::span<const RankTrace> ranks, std::span<const std::string> warnings) {
  if (!ranks.empty()) return;
  throw Error{"collectives", warnings.empty() ? "no rank is left to report on"
                                              : "no trace could be read: " + warnings.front()};
}

}  // namespace tracelens
