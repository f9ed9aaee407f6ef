#include "report/import/read_ranks.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <map>
#include <mutex>
#include <set>
#include <system_error>
#include <tracelens/error.hpp>
#include <tracelens/read_trace.hpp>

#include "io/parallel.hpp"
#include "io/threads.hpp"
#include "tree/time_math.hpp"

namespace tracelens {
namespace {

namespace fs = std::filesystem;

// What reading a file takes at most, judged by its size: text shrinks to a tenth by packing, and
// the columns of a trace are a quarter of the text.
std::size_t memory_for(const std::string& path) {
  std::error_code error;
  const std::uintmax_t stored = fs::file_size(path, error);
  if (error) return 0;  // a member of an archive, or not there
  const bool is_plain = path.ends_with(".json");
  return static_cast<std::size_t>(stored) * (is_plain ? 1 : 10) / 4;
}

// Files at a time: one thread per file is the fastest way, as long as the traces fit.
int files_at_a_time(std::span<const RankFile> files, int threads, std::size_t memory_bytes) {
  std::size_t largest = 1;
  for (const RankFile& file : files) largest = std::max(largest, memory_for(file.path));
  const std::size_t fitting = std::max<std::size_t>(1, memory_bytes / largest);
  return static_cast<int>(std::min(
      {fitting, static_cast<std::size_t>(threads), std::max<std::size_t>(1, files.size())}));
}

std::vector<RankTrace> read_file(const RankFile& file, const RankSummaryOptions& options,
                                 const RankReading& reading, int threads) {
  RankTrace failed{.file = file.path};
  try {
    Trace trace = reading.read ? reading.read(file.path, threads)
                               : read_trace(file.path, {.threads = threads});
    if (trace.metadata(kFusedRanks) != nullptr) throw Error{file.path, kIsFused};
    if (reading.shown) trace = reading.shown(trace);
    std::vector<RankTrace> ranks = summarize_ranks(std::move(trace), options);
    for (RankTrace& rank : ranks) rank.file = file.path;  // what is shown may have no name
    if (reading.on_rank) std::ranges::for_each(ranks, reading.on_rank);
    return ranks;
  } catch (const Error& error) {
    failed.problem = error.what();
  }
  return {std::move(failed)};
}

// "3, 5 to 9, 12"
std::string ranges_of(const std::vector<std::int64_t>& ranks) {
  std::string text;
  for (std::size_t i = 0; i < ranks.size();) {
    std::size_t last = i;
    while (last + 1 < ranks.size() && ranks[last + 1] == ranks[last] + 1) ++last;
    if (!text.empty()) text += ", ";
    text += std::to_string(ranks[i]);
    if (last > i) text += (last == i + 1 ? ", " : " to ") + std::to_string(ranks[last]);
    i = last + 1;
  }
  return text;
}

void warn_of_gaps(std::span<const RankTrace> ranks, std::optional<std::int64_t> world_size,
                  std::vector<std::string>& warnings) {
  for (const RankTrace& rank : ranks)
    if (!world_size && rank.world_size) world_size = rank.world_size;
  std::set<std::int64_t> there;
  for (const RankTrace& rank : ranks) there.insert(rank.rank);
  const std::int64_t end = world_size.value_or(*there.rbegin() + 1);
  std::vector<std::int64_t> missing;
  constexpr std::int64_t kLargestWorld = 1 << 20;
  for (std::int64_t rank = 0; rank < std::min(end, kLargestWorld); ++rank)
    if (!there.contains(rank)) missing.push_back(rank);
  if (!missing.empty())
    warnings.push_back(
        fmt::format("{} of {} ranks are missing: {}", missing.size(), end, ranges_of(missing)));
}

// Traces that disagree on the size of their job may well be of several.
void warn_of_world_sizes(std::span<const RankTrace> ranks, std::optional<std::int64_t> world_size,
                         std::vector<std::string>& warnings) {
  std::map<std::int64_t, std::vector<std::int64_t>> sizes;  // by what ranks say: who does
  for (const RankTrace& rank : ranks)
    if (rank.world_size) sizes[*rank.world_size].push_back(rank.rank);
  std::string text;
  for (const auto& [size, who] : sizes)
    text += fmt::format("{}{} on rank {}", text.empty() ? "" : "; ", size, ranges_of(who));
  if (sizes.size() > 1)
    warnings.push_back("ranks disagree on the world size, and may be of different jobs: " + text);
  else if (!sizes.empty() && world_size && sizes.begin()->first != *world_size)
    warnings.push_back(fmt::format("the world size is given as {}, but the traces say {}",
                                   *world_size, sizes.begin()->first));
  std::vector<std::int64_t> beyond;
  for (const RankTrace& rank : ranks)
    if (rank.world_size && rank.rank >= *rank.world_size) beyond.push_back(rank.rank);
  if (!beyond.empty())
    warnings.push_back(
        fmt::format("rank {} is not below the world size that its trace tells", ranges_of(beyond)));
}

// A name that says another rank than its trace. Where all names say the same one, as a folder
// "lowrank4" makes them, they say none.
void warn_of_names(std::span<const RankTrace> ranks, std::span<const RankFile> files,
                   std::vector<std::string>& warnings) {
  const RankTrace* first = nullptr;
  std::set<std::int64_t> named;
  std::size_t count = 0;
  for (const RankTrace& rank : ranks) {
    const std::optional<std::int64_t>& name = files[rank.source].rank;
    if (rank.gpu || !name) continue;
    named.insert(*name);
    if (*name == rank.rank) continue;
    if (count++ == 0) first = &rank;
  }
  if (count == 0 || (named.size() == 1 && ranks.size() > 1)) return;
  warnings.push_back(
      fmt::format("{}: its name says rank {}, the trace rank {}, which counts{}", first->file,
                  *files[first->source].rank, first->rank,
                  count == 1 ? "" : fmt::format("; so it is with {} more files", count - 1)));
}

bool tells_rank(const RankTrace& rank, const RankFile& file) {
  return rank.declared_rank || file.rank;
}

// The format of most files that could be read; of equals, the one with more ranks told, then the
// first.
std::string usual_format(std::span<const RankTrace> ranks, std::span<const RankFile> files) {
  struct Format {
    std::string name;
    std::pair<std::size_t, std::size_t> count;  // files, and those that tell their rank
  };
  std::vector<Format> formats;
  for (const RankTrace& rank : ranks) {
    if (!rank.problem.empty() || rank.gpu.value_or(0) != 0) continue;
    auto found = std::ranges::find(formats, rank.format, &Format::name);
    if (found == formats.end()) found = formats.insert(found, {rank.format, {0, 0}});
    ++found->count.first;
    found->count.second += tells_rank(rank, files[rank.source]) ? 1 : 0;
  }
  const auto most = std::ranges::max_element(formats, {}, &Format::count);
  return most == formats.end() ? "" : most->name;
}

// A file that could be read but is no rank of this job gets a `problem` that says why.
void find_foreign_files(std::span<RankTrace> ranks, std::span<const RankFile> files,
                        const RankAssignment& options) {
  const std::string format = usual_format(ranks, files);
  for (RankTrace& rank : ranks)
    if (rank.problem.empty() && rank.format != format)
      rank.problem = fmt::format("{}: its format is {}, that of the other ranks {}; left out",
                                 rank.file, rank.format, format);
  if (options.by_position) return;
  bool is_told = false;
  for (const RankTrace& rank : ranks)
    is_told |= rank.problem.empty() && tells_rank(rank, files[rank.source]);
  for (RankTrace& rank : ranks)
    if (is_told && rank.problem.empty() && !tells_rank(rank, files[rank.source]))
      rank.problem = fmt::format("{}: {}", rank.file, kTellsNoRank);
}

// "host10" comes after "host9".
bool comes_before(std::string_view a, std::string_view b) {
  const auto is_digit = [](char c) { return c >= '0' && c <= '9'; };
  const auto take_number = [&](std::string_view& text) {
    std::string_view digits = text.substr(
        0, static_cast<std::size_t>(std::ranges::find_if_not(text, is_digit) - text.begin()));
    text.remove_prefix(digits.size());
    digits.remove_prefix(std::min(digits.find_first_not_of('0'), digits.size()));
    return std::pair{digits.size(), digits};  // the longer number is the larger one
  };
  while (!a.empty() && !b.empty()) {
    if (is_digit(a.front()) && is_digit(b.front())) {
      const auto first = take_number(a), second = take_number(b);
      if (first != second) return first < second;
    } else {
      if (a.front() != b.front()) return a.front() < b.front();
      a.remove_prefix(1);
      b.remove_prefix(1);
    }
  }
  return a.size() < b.size();
}

// The GPUs of hosts: each declares its number in the job, as a rank's own trace would.
void number_gpus(std::span<RankTrace> ranks, std::span<const RankFile> files,
                 std::vector<std::string>& warnings) {
  std::map<std::uint32_t, std::vector<RankTrace*>> hosts;  // by file
  for (RankTrace& rank : ranks)
    if (rank.gpu && rank.problem.empty()) hosts[rank.source].push_back(&rank);
  std::vector<std::uint32_t> order;
  for (const auto& [source, gpus] : hosts) order.push_back(source);
  const bool is_told = std::ranges::all_of(
      order, [&](std::uint32_t source) { return files[source].rank.has_value(); });
  std::ranges::stable_sort(order, [&](std::uint32_t a, std::uint32_t b) {
    return is_told ? *files[a].rank < *files[b].rank : comes_before(files[a].path, files[b].path);
  });
  std::int64_t next = 0;
  for (const std::uint32_t source : order) {
    const std::vector<RankTrace*>& gpus = hosts[source];
    constexpr std::int64_t kMostHosts = 1 << 20;  // a name with a larger number tells no host
    if (is_told && *files[source].rank < kMostHosts)
      next = std::max(next, *files[source].rank * std::ssize(gpus));
    for (RankTrace* const gpu : gpus) gpu->declared_rank = next++;
  }
  if (order.size() > 1 && !is_told)
    warnings.push_back(fmt::format(
        "ranks are numbered GPU by GPU, in the order of the hosts' names: {} has rank 0",
        files[order.front()].path));
}

}  // namespace

std::vector<RankTrace> read_ranks(std::span<const RankFile> files,
                                  const RankSummaryOptions& options, const RankReading& reading) {
  const int threads = io::thread_count(reading.threads);
  const int workers = files_at_a_time(files, threads, reading.memory_bytes);
  const int threads_per_file = std::max(1, threads / workers);
  std::vector<std::vector<RankTrace>> by_file(files.size());
  std::size_t done = 0;
  std::mutex progress;  // guards done and the callback
  io::for_each_part(workers, files.size(), [&](std::size_t i) {
    by_file[i] = read_file(files[i], options, reading, threads_per_file);
    const std::lock_guard lock{progress};
    ++done;
    if (reading.on_progress) reading.on_progress(done, files.size());
  });
  std::vector<RankTrace> ranks;
  for (std::size_t i = 0; i < by_file.size(); ++i)
    for (RankTrace& rank : by_file[i]) {
      rank.source = static_cast<std::uint32_t>(i);
      rank.part = static_cast<std::uint32_t>(&rank - by_file[i].data());
      ranks.push_back(std::move(rank));
    }
  return ranks;
}

void assign_ranks(std::vector<RankTrace>& ranks, std::span<const RankFile> files,
                  const RankAssignment& options, std::vector<std::string>& warnings) {
  find_foreign_files(ranks, files, options);
  number_gpus(ranks, files, warnings);
  std::map<std::int64_t, RankTrace> kept;
  for (RankTrace& rank : ranks) {
    const std::optional<std::int64_t>& named = files[rank.source].rank;
    if (!rank.problem.empty()) {
      warnings.push_back(rank.problem);
      continue;
    }
    if (rank.events == 0 && !rank.declared_rank && !named) {
      warnings.push_back(rank.file + ": no events and no rank; left out");
      continue;
    }
    if (rank.gpu.value_or(0) == 0)
      for (const std::string& warning : rank.warnings)
        warnings.push_back(fmt::format("{}: {}", rank.file, warning));
    const std::int64_t position =
        rank.gpu ? *rank.declared_rank : named.value_or(static_cast<std::int64_t>(rank.source));
    rank.rank = options.by_position ? position : rank.declared_rank.value_or(position);
    if (options.by_position && rank.declared_rank.value_or(position) != position)
      warnings.push_back(fmt::format("{}: taken as rank {}, but the trace says it is rank {}",
                                     rank.file, position, *rank.declared_rank));
    if (!options.by_position && !rank.declared_rank && !named)
      warnings.push_back(fmt::format(
          "{}: neither the trace nor its name tells the rank; taken as {}", rank.file, position));
    if (!options.only_ranks.empty() &&
        std::ranges::find(options.only_ranks, rank.rank) == options.only_ranks.end())
      continue;
    const auto [first, is_new] = kept.try_emplace(rank.rank, std::move(rank));
    if (!is_new)
      warnings.push_back(fmt::format("{}: rank {} is there twice; {} is read instead", rank.file,
                                     first->first, first->second.file));
  }
  ranks.clear();
  std::vector<std::int64_t> numbers;
  for (auto& [number, rank] : kept) {
    numbers.push_back(number);
    ranks.push_back(std::move(rank));
  }
  warn_of_absent(options.only_ranks, numbers, warnings);
  if (!options.by_position) {
    warn_of_names(ranks, files, warnings);
    warn_of_world_sizes(ranks, options.world_size, warnings);
  }
  if (!ranks.empty() && options.only_ranks.empty())
    warn_of_gaps(ranks, options.world_size, warnings);
}

void align_bases(std::span<RankTrace> ranks, Edition edition, std::vector<std::string>& warnings) {
  const std::vector<std::int64_t> shifts = base_shifts(ranks, edition, warnings);
  for (std::size_t i = 0; i < shifts.size(); ++i)
    if (shifts[i] != 0) shift_times(ranks[i], shifts[i]);
}

std::vector<std::int64_t> base_shifts(std::span<const RankTrace> ranks, Edition edition,
                                      std::vector<std::string>& warnings) {
  const auto differs = std::ranges::find_if(ranks, [&](const RankTrace& rank) {
    return rank.base_ns != kAbsent && ranks.front().base_ns != kAbsent &&
           rank.base_ns != ranks.front().base_ns;
  });
  if (differs == ranks.end()) return {};
  const bool shifts = edition == Edition::kExtended;
  warnings.push_back(fmt::format(
      "{}: its times count from another moment (baseTimeNanoseconds) than those of {}{}",
      differs->file, ranks.front().file, shifts ? "; shifted" : "; compared as they are"));
  if (!shifts) return {};
  std::vector<std::int64_t> by_rank;
  for (const RankTrace& rank : ranks)
    by_rank.push_back(rank.base_ns == kAbsent ? 0 : minus_ns(rank.base_ns, ranks.front().base_ns));
  return by_rank;
}

void warn_of_absent(std::vector<std::int64_t> asked_for, std::span<const std::int64_t> found,
                    std::vector<std::string>& warnings) {
  std::erase_if(asked_for,
                [&](std::int64_t rank) { return std::ranges::find(found, rank) != found.end(); });
  if (!asked_for.empty())
    warnings.push_back(
        fmt::format("--ranks: there is no trace of rank {}", fmt::join(asked_for, ", ")));
}

}  // namespace tracelens
