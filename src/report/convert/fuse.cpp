// Two passes over the text of every rank: the first finds the largest ids, the second writes.
#include <fmt/format.h>

#include <algorithm>
#include <functional>
#include <optional>
#include <set>
#include <tracelens/convert.hpp>
#include <tracelens/error.hpp>
#include <tracelens/fuse.hpp>
#include <tracelens/json.hpp>
#include <tracelens/read_trace.hpp>
#include <tracelens/table_text.hpp>
#include <utility>

#include "analysis/ranks/clock_offsets.hpp"
#include "analysis/ranks/run.hpp"
#include "io/stream.hpp"
#include "io/zip_members.hpp"
#include "readers/chrome/event_texts.hpp"
#include "readers/kineto/kineto.hpp"
#include "readers/rocprof/rocprof.hpp"
#include "report/convert/fuse_event.hpp"
#include "report/convert/packed_output.hpp"
#include "report/convert/temporary_files.hpp"
#include "report/import/read_ranks.hpp"
#include "tree/time_math.hpp"

namespace tracelens {
namespace {

// What the heads of the ranks' files say that is worth keeping.
struct Heads {
  Value schema, unit, base;
  std::vector<std::string> ranks;
  std::vector<Value> jobs;  // distributedInfo, by rank
};

struct Source {
  std::string path;
  std::int64_t rank = 0;
  std::int64_t shift_ns = 0;
  std::optional<std::int64_t> first_ns = {};  // its first event, as recorded
};

// What the first pass finds in a file.
struct Surveyed {
  Source source = {};
  bool tells_rank = false;  // it or its name
  FuseSurvey survey = {};
  Value schema = {}, unit = {}, base = {}, job = {};
};

using TakeEvent = std::function<void(std::string_view event)>;
using AtEnd = std::function<void(const EventTexts& events, const std::string& damage)>;

bool is_chrome_json(const std::string& path) {
  io::Stream in = io::Stream::open(path);
  const std::string_view head = in.peek(4096);
  if (head.empty()) throw_empty(in);
  return is_kineto(head) && !is_rocprof(head);
}

// Hands over every event of a Chrome trace as text, and the file itself after the last.
void for_each_event(const std::string& path, const TakeEvent& take, const AtEnd& at_end) {
  io::Stream in = io::Stream::open(path);
  EventTexts events{in};
  while (const auto text = events.next()) take(*text);
  at_end(events, in.damage());
}

class Fusion {
 public:
  Fusion(const FuseOptions& options, FuseResult& result) : options_{options}, result_{result} {}

  void run(const std::vector<RankFile>& files, const std::string& output) {
    survey(files);
    if (options_.align_clocks) align();
    find_first();
    PackedOutput out{output};
    out.write("{\"traceEvents\": [\n");
    for (const Source& source : sources_) write_rank(source, out);
    if (const std::string sentence = damage_.sentence(); !sentence.empty())
      result_.warnings.push_back(sentence);
    write_process_names(out);
    out.write(text_);
    out.write("\n]");
    write_heads(out);
    out.write("}\n");
    out.commit();
  }

 private:
  [[nodiscard]] bool wants(std::int64_t rank) const {
    return options_.only_ranks.empty() ||
           std::ranges::find(options_.only_ranks, rank) != options_.only_ranks.end();
  }

  void survey(const std::vector<RankFile>& files) {
    const std::vector<std::optional<Surveyed>> found = look_into(files);
    const auto tells_rank = [](const auto& each) { return each && each->tells_rank; };
    const bool are_told = std::ranges::any_of(found, tells_rank);
    for (std::size_t i = 0; i < files.size(); ++i) {
      if (!found[i]) continue;
      if (are_told && !tells_rank(found[i]))
        result_.warnings.push_back(fmt::format("{}: {}", files[i].path, kTellsNoRank));
      else
        accept(*found[i], files[i].path);
    }
    if (sources_.empty())
      throw Error{"fuse", result_.warnings.empty()
                              ? "none of the ranks asked for is there"
                              : "no trace could be read: " + result_.warnings.front()};
    std::ranges::stable_sort(sources_, {}, &Source::rank);
    result_.ranks = sources_.size();
    std::vector<std::int64_t> ranks;
    for (const Source& source : sources_) ranks.push_back(source.rank);
    warn_of_absent(options_.only_ranks, ranks, result_.warnings);
  }

  // A name that tells the rank saves reading the files that are not wanted. But the rank in the
  // trace counts, and a name may tell its number on one machine: where the names cannot be believed
  // or a wanted rank is not there, all files are read.
  std::vector<std::optional<Surveyed>> look_into(const std::vector<RankFile>& files) {
    std::vector<std::optional<Surveyed>> found(files.size());
    std::set<std::int64_t> named, wanted{options_.only_ranks.begin(), options_.only_ranks.end()};
    bool are_believed = true;
    for (const RankFile& file : files)
      if (file.rank) are_believed &= named.insert(*file.rank).second;
    const auto is_skipped = [&](const RankFile& file) {
      return are_believed && file.rank && !wants(*file.rank);
    };
    std::vector<std::size_t> skipped;
    const auto look = [&](std::size_t i) {
      try {
        found[i] = look_into(files[i], static_cast<std::int64_t>(i));
        wanted.erase(found[i]->source.rank);
      } catch (const Error& error) {
        result_.warnings.emplace_back(error.what());
      }
    };
    for (std::size_t i = 0; i < files.size(); ++i)
      if (is_skipped(files[i]))
        skipped.push_back(i);
      else
        look(i);
    for (std::size_t i = 0; i < files.size(); ++i)
      if (found[i] && files[i].rank) are_believed &= found[i]->source.rank == *files[i].rank;
    if (!are_believed || !wanted.empty()) std::ranges::for_each(skipped, look);
    return found;
  }

  Surveyed look_into(const RankFile& file, std::int64_t position) {
    Surveyed found{.source = {.path = file.path, .rank = file.rank.value_or(position)},
                   .tells_rank = file.rank.has_value()};
    if (io::is_read_once(file.path)) {
      found.source.path = temporary_.make();
      keep_stream(file.path, found.source.path);
    }
    // Other formats become Chrome traces first.
    if (!is_chrome_json(found.source.path)) {
      const Trace trace = read_trace(found.source.path);
      found.source.path = temporary_.make();
      write_chrome_json(trace, found.source.path);
    }
    const auto at_end = [&](const EventTexts& events, const std::string& damage) {
      const auto head = [&](const char* key) {
        const Value* const value = events.head(key);
        return value == nullptr ? Value{} : *value;
      };
      if (!head(kFusedRanks).is_null()) throw Error{file.path, kIsFused};
      found.schema = head("schemaVersion");
      found.unit = head("displayTimeUnit");
      found.base = head("baseTimeNanoseconds");
      found.job = head("distributedInfo");
      if (!damage.empty()) result_.warnings.push_back(file.path + ": " + damage);
      for (const auto& [what, count, byte] : events.warnings())
        result_.warnings.push_back(
            fmt::format("{}: {} ({}x, first at byte {})", file.path, what, count, byte));
      if (events.is_cut())
        result_.warnings.push_back(file.path + ": the file ends before its event list is closed");
      if (events.skipped() > 0)
        result_.warnings.push_back(
            fmt::format("{}: {} elements that are no events", file.path, events.skipped()));
    };
    for_each_event(
        found.source.path, [&](std::string_view event) { found.survey.look_at(event); }, at_end);
    if (const Value* const rank = found.job.find("rank"); rank != nullptr && rank->is_int()) {
      found.source.rank = rank->as_int();
      found.tells_rank = true;
    }
    return found;
  }

  void accept(Surveyed found, const std::string& path) {
    const std::int64_t rank = found.source.rank;
    if (!wants(rank)) return;
    if (std::ranges::find(sources_, rank, &Source::rank) != sources_.end()) {
      result_.warnings.push_back(fmt::format("{}: rank {} is there twice; left out", path, rank));
      return;
    }
    if (sources_.empty()) {
      survey_ = found.survey;
      heads_.schema = found.schema;
      heads_.unit = found.unit;
      heads_.base = found.base;
    } else {
      survey_.add(found.survey);
    }
    if (found.base.is_int() && heads_.base.is_int() && options_.align_clocks)
      found.source.shift_ns = minus_ns(found.base.as_int(), heads_.base.as_int());
    if (!found.job.is_null()) {
      heads_.ranks.push_back(std::to_string(rank));
      heads_.jobs.push_back(found.job);
    }
    found.source.first_ns = found.survey.first_ns();
    sources_.push_back(std::move(found.source));
  }

  // When the first of all ranks begins, by the times that are written. Ranks of one job begin
  // together, or their clocks are apart.
  void find_first() {
    constexpr std::int64_t kFarNs = 600'000'000'000;
    const Source *first = nullptr, *last = nullptr;
    const auto start = [](const Source& source) {
      return plus_ns(*source.first_ns, source.shift_ns);
    };
    for (const Source& source : sources_) {
      if (!source.first_ns) continue;
      if (first == nullptr || start(source) < start(*first)) first = &source;
      if (last == nullptr || start(source) > start(*last)) last = &source;
    }
    if (first == nullptr) return;
    first_ns_ = start(*first);
    const std::int64_t apart = minus_ns(start(*last), first_ns_);
    if (apart > kFarNs)
      result_.warnings.push_back(
          fmt::format("rank {} begins {:.0f} s after rank {}: their clocks are apart{}", last->rank,
                      static_cast<double>(apart) / 1e9, first->rank,
                      options_.align_clocks ? ", and no collective tells by how much"
                                            : "; --align-clocks shifts them"));
  }

  // Whoever is ahead is moved back.
  void align() {
    std::vector<RankFile> files;
    for (const Source& source : sources_) files.push_back({source.path, source.rank});
    std::vector<RankTrace> ranks =
        read_ranks(files, {.activity = false}, {.memory_bytes = std::size_t{1} << 30});
    for (std::size_t i = 0; i < ranks.size(); ++i) {
      ranks[i].rank = sources_[i].rank;
      shift_times(ranks[i], sources_[i].shift_ns);
    }
    const CollectiveRun run{std::move(ranks), {.gpus_per_node = options_.gpus_per_node}};
    const ClockOffsets clocks = estimate_clock_offsets(run);
    for (std::size_t i = 0; i < sources_.size(); ++i)
      sources_[i].shift_ns = minus_ns(sources_[i].shift_ns, clocks.by_rank[i]);
  }

  void write_rank(const Source& source, PackedOutput& out) {
    RankEvents::Times times{.shift_ns = source.shift_ns};
    if (options_.window) {
      const std::int64_t start = minus_ns(first_ns_, source.shift_ns);
      times.from_ns = plus_ns(start, options_.window->from_ns);
      times.to_ns = plus_ns(start, options_.window->to_ns);
    }
    RankEvents events{source.rank, survey_.scales(), options_, times};
    for_each_event(
        source.path,
        [&](std::string_view event) {
          const std::size_t before = text_.size();
          if (result_.events > 0) text_ += ",\n";
          if (events.rewrite(event, text_))
            ++result_.events;
          else
            text_.resize(before);
          flush_when_large(out);
        },
        [](const EventTexts&, const std::string&) {});
    damage_.add(events.damage());
    for (const auto& [pid, is_gpu] : events.processes())
      processes_.push_back({source.rank, pid, is_gpu});
  }

  void write_process_names(PackedOutput& out) {
    for (const auto& [rank, pid, is_gpu] : processes_) {
      fmt::format_to(std::back_inserter(text_),
                     "{}{{\"name\": \"process_name\", \"ph\": \"M\", \"pid\": {}, \"tid\": 0, "
                     "\"args\": {{\"name\": \"RANK {} - {}\"}}}},\n"
                     "{{\"name\": \"process_sort_index\", \"ph\": \"M\", \"pid\": {}, \"tid\": 0, "
                     "\"args\": {{\"sort_index\": {}}}}}",
                     result_.events > 0 ? ",\n" : "", pid, rank, is_gpu ? "GPU" : "CPU", pid,
                     2 * rank + (is_gpu ? 1 : 0));
      result_.events += 2;
      flush_when_large(out);
    }
  }

  void write_heads(PackedOutput& out) {
    std::string text;
    const auto add = [&](const char* key, const Value& value) {
      if (value.is_null()) return;
      fmt::format_to(std::back_inserter(text), ",\n\"{}\": ", key);
      append_json(text, value);
    };
    add("schemaVersion", heads_.schema);
    add("displayTimeUnit", heads_.unit);
    add("baseTimeNanoseconds", heads_.base);
    std::vector<Value> ranks;
    for (const Source& source : sources_) ranks.emplace_back(source.rank);
    add(kFusedRanks, Value::list(std::move(ranks)));
    if (!heads_.ranks.empty()) add("distributedInfoByRank", Value::dict(heads_.ranks, heads_.jobs));
    out.write(text);
  }

  void flush_when_large(PackedOutput& out) {
    constexpr std::size_t kLarge = std::size_t{256} << 10;
    if (text_.size() < kLarge) return;
    out.write(text_);
    text_.clear();
  }

  struct Process {
    std::int64_t rank, pid;
    bool is_gpu;
  };
  const FuseOptions& options_;
  FuseResult& result_;
  std::vector<Source> sources_;  // by rank
  FuseSurvey survey_;
  std::int64_t first_ns_ = 0;
  Heads heads_;
  TemporaryFiles temporary_;
  JsonRepairs damage_;
  std::vector<Process> processes_;  // by rank, pid
  std::string text_;                // not written yet
};

}  // namespace

FuseResult fuse_traces(const std::vector<RankFile>& files, const std::string& output,
                       const FuseOptions& options) {
  FuseResult result;
  Fusion{options, result}.run(files, output);
  return result;
}

}  // namespace tracelens
