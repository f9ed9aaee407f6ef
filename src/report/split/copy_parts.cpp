#include "report/split/copy_parts.hpp"

#include <algorithm>
#include <string_view>
#include <tracelens/error.hpp>
#include <tuple>

#include "io/gzip_pieces.hpp"
#include "io/stream.hpp"
#include "io/threads.hpp"
#include "readers/kit/ordered_work.hpp"

namespace tracelens {
namespace {

constexpr std::size_t kBlock = std::size_t{1} << 20;
// Files that are open at a time; a process is usually allowed 1024. More parts take another pass.
constexpr std::size_t kOpenFiles = 256;

class Part {
 public:
  Part(OutputFolder& folder, const std::string& name) : name_{name}, file_{folder.make(name)} {
    write(io::GzipPieces::header());
  }
  void add(const io::GzipPiece& piece) { write(pieces_.add(piece)); }
  void finish(OutputFolder& folder, const io::GzipPiece& closing) {
    add(closing);
    write(pieces_.trailer());
    file_.prepare();
    folder.keep(content_.of(name_));
  }

 private:
  void write(std::string_view bytes) {
    file_.write(bytes);
    file_.flush();
    content_.add(bytes);
  }
  std::string name_;
  io::OutputFile& file_;
  io::GzipPieces pieces_;
  ContentHash content_;
};

// What a thread works on: a block of the text, and what of it goes where.
struct Worker {
  struct Cut {
    std::uint32_t part;
    std::size_t first, size;  // in the block
    std::string_view before;  // to be written in front of it
  };
  struct Packed {
    std::uint32_t part;
    io::GzipPiece piece;
  };
  std::string block, text;
  std::vector<Cut> cuts;
  std::vector<Packed> packed;
  io::GzipPacker packer;

  void pack() {
    std::ranges::stable_sort(cuts, {}, &Cut::part);
    packed.clear();
    for (auto cut = cuts.begin(); cut != cuts.end();) {
      const std::uint32_t part = cut->part;
      const auto whole = std::string_view{block}.substr(cut->first, cut->size);
      const bool is_only = cut + 1 == cuts.end() || (cut + 1)->part != part;
      if (is_only && cut->before.empty()) {  // mostly; spares a copy
        packed.push_back({part, packer.pack(whole)});
        ++cut;
        continue;
      }
      text.clear();
      for (; cut != cuts.end() && cut->part == part; ++cut) {
        text += cut->before;
        text += std::string_view{block}.substr(cut->first, cut->size);
      }
      packed.push_back({part, packer.pack(text)});
    }
  }
};

// The runs of parts [first, end), cut along the blocks of the text.
class Cutter {
 public:
  Cutter(io::Stream& in, std::span<const TextRun> runs, std::size_t first, std::size_t end)
      : in_{in}, has_events_(end - first) {
    for (const TextRun& run : runs) {
      const bool is_everywhere = run.part == TextRun::kEveryPart;
      if (!is_everywhere && (run.part < first || run.part >= end)) continue;
      runs_.push_back(run);
      if (!is_everywhere) runs_.back().part -= static_cast<std::uint32_t>(first);
      last_byte_ = std::max(last_byte_, run.end);
    }
  }

  bool next(Worker& worker) {
    worker.cuts.clear();
    if (at_ >= last_byte_) return false;
    worker.block.resize(
        static_cast<std::size_t>(std::min<std::uint64_t>(kBlock, last_byte_ - at_)));
    if (in_.read(worker.block) < worker.block.size()) throw changed();
    const std::uint64_t end = at_ + worker.block.size();
    for (const TextRun& run : open_) cut(run, worker);
    for (; next_ < runs_.size() && runs_[next_].begin < end; ++next_) {
      open_.push_back(runs_[next_]);
      cut(open_.back(), worker);
    }
    std::erase_if(open_, [&](const TextRun& run) { return run.end <= end; });
    at_ = end;
    return true;
  }

 private:
  void cut(const TextRun& run, Worker& worker) {
    const std::uint64_t from = std::max(run.begin, at_),
                        to = std::min(run.end, at_ + worker.block.size());
    const bool is_start = from == run.begin, is_events = run.kind == TextRun::Kind::kEvents;
    if (is_start && is_events && worker.block[static_cast<std::size_t>(from - at_)] != '{')
      throw changed();
    const auto add = [&](std::uint32_t part) {
      std::string_view before;
      if (is_start && run.kind == TextRun::Kind::kTail) before = "\n";
      if (is_start && is_events) {
        if (has_events_[part]) before = ",\n";
        has_events_[part] = true;
      }
      worker.cuts.push_back({part, static_cast<std::size_t>(from - at_),
                             static_cast<std::size_t>(to - from), before});
    };
    if (run.part != TextRun::kEveryPart) return add(run.part);
    for (std::uint32_t part = 0; part < has_events_.size(); ++part) add(part);
  }
  [[nodiscard]] Error changed() const {
    return {in_.name(), "the file has changed while it was read"};
  }

  io::Stream& in_;
  std::vector<TextRun> runs_;  // by begin
  std::vector<TextRun> open_;  // those that go on in the next block
  std::vector<bool> has_events_;
  std::size_t next_ = 0;
  std::uint64_t at_ = 0, last_byte_ = 0;
};

}  // namespace

void copy_parts(const std::string& trace, std::vector<TextRun> runs,
                std::span<const std::string> names, const CopyOptions& options,
                OutputFolder& folder) {
  std::erase_if(runs, [](const TextRun& run) { return run.begin >= run.end; });
  std::ranges::stable_sort(runs, {}, [](const TextRun& run) { return run.begin; });
  const io::GzipPiece closing = io::GzipPacker{}.pack(options.closing);
  for (std::size_t first = 0; first < names.size(); first += kOpenFiles) {
    const std::size_t end = std::min(names.size(), first + kOpenFiles);
    std::vector<Part> parts;
    parts.reserve(end - first);
    for (std::size_t i = first; i < end; ++i) parts.emplace_back(folder, names[i]);
    io::Stream in = io::Stream::open(trace);
    Cutter cutter{in, runs, first, end};
    OrderedWork work{[&](Worker& worker) { return cutter.next(worker); },
                     [](Worker& worker) { worker.pack(); },
                     [&](Worker& worker) {
                       for (const auto& [part, piece] : worker.packed) parts[part].add(piece);
                     }};
    work.run(io::thread_count(options.threads), [] { return Worker{}; });
    for (Part& part : parts) part.finish(folder, closing);
  }
}

}  // namespace tracelens
