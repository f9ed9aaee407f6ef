#include "report/split/copy_parts.hpp"

#include <algorithm>
#include <deque>
#include <string_view>
#include <tracelens/error.hpp>
#include <tuple>

#include "io/gzip_pieces.hpp"
#include "io/stream.hpp"
#include "io/threads.hpp"
#include "readers/chrome/strict_json.hpp"
#include "readers/kit/ordered_work.hpp"

namespace tracelens {
namespace {

constexpr std::size_t kBlock = std::size_t{1} << 20;
// Files that are open at a time; a process is usually allowed 1024. More parts take another pass.
constexpr std::size_t kOpenFiles = 256;

// What goes to a part next.
struct Packed {
  std::uint32_t part;
  bool begins_with_event, has_events;
  io::GzipPiece piece;
};

class Part {
 public:
  Part(OutputFolder& folder, const std::string& name) : name_{name}, file_{folder.make(name)} {
    write(io::GzipPieces::header());
  }
  void add(const io::GzipPiece& piece) { write(pieces_.add(piece)); }
  void add(const Packed& packed, const io::GzipPiece& line, const io::GzipPiece& comma_and_line) {
    if (packed.begins_with_event) add(has_events_ ? comma_and_line : line);
    add(packed.piece);
    has_events_ |= packed.has_events;
  }
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
  bool has_events_ = false;
  io::OutputFile& file_;
  io::GzipPieces pieces_;
  ContentHash content_;
};

// What a thread works on: a block of the text, and what of it goes where.
struct Worker {
  struct Piece {
    std::size_t first, size;  // in the block
    bool is_events, is_tail;  // is_tail: the start of it, which gets a line of its own
    bool is_counted;
  };
  struct Cut {
    std::uint32_t part;
    std::size_t piece;
  };
  std::string block, text;
  std::vector<Piece> pieces;
  std::vector<Cut> cuts;
  std::vector<std::string_view> texts;  // of the pieces
  std::deque<std::string> repaired;
  JsonRepairs repairs;
  std::vector<Packed> packed;
  io::GzipPacker packer;

  // A trace is read by forgiving readers, its parts by anybody's.
  void judge() {
    texts.clear();
    repaired.clear();
    repairs = {};
    for (const Piece& piece : pieces) {
      std::string_view& own = texts.emplace_back(block);
      own = own.substr(piece.first, piece.size);
      if (!piece.is_events || json::is_strict_list(own)) continue;
      JsonRepairs found;
      own = repaired.emplace_back(repaired_list(own, found));
      if (piece.is_counted) repairs.add(found);
    }
  }

  void pack() {
    judge();
    std::ranges::stable_sort(cuts, {}, &Cut::part);
    packed.clear();
    for (auto cut = cuts.begin(); cut != cuts.end();) {
      const std::uint32_t part = cut->part;
      const bool is_only = cut + 1 == cuts.end() || (cut + 1)->part != part;
      bool begins_with_event = false, has_events = false;
      std::string_view all;
      text.clear();
      for (; cut != cuts.end() && cut->part == part; ++cut) {
        const Piece& piece = pieces[cut->piece];
        const std::string_view own = texts[cut->piece];
        if (piece.is_events && own.empty()) continue;
        if (piece.is_events && text.empty()) begins_with_event = true;
        if (is_only && piece.is_events) {  // mostly; spares a copy
          all = own;
        } else {
          if (piece.is_events && has_events) text += ',';
          if (piece.is_events ? !text.empty() : piece.is_tail) text += '\n';
          text += own;
          all = text;
        }
        has_events |= piece.is_events;
      }
      if (!all.empty()) packed.push_back({part, begins_with_event, has_events, packer.pack(all)});
    }
  }
};

// The runs of parts [first, end), cut along the blocks of the text.
class Cutter {
 public:
  Cutter(io::Stream& in, std::span<const TextRun> runs, const EventPlaces& places,
         std::size_t first, std::size_t end)
      : in_{in}, places_{places}, parts_{end - first}, is_first_pass_{first == 0} {
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
    worker.pieces.clear();
    if (at_ >= last_byte_) return false;
    worker.block.resize(static_cast<std::size_t>(end_of_block() - at_));
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
  // Blocks end where an event does, so that each can be judged.
  [[nodiscard]] std::uint64_t end_of_block() const {
    const std::uint64_t end = std::min(at_ + kBlock, last_byte_);
    const auto after = std::ranges::lower_bound(places_.begins, end);
    if (end == last_byte_ || after == places_.begins.begin()) return end;
    const auto row = static_cast<std::size_t>(after - places_.begins.begin()) - 1;
    const std::uint64_t event_end = places_.begins[row] + places_.sizes[row];
    return places_.sizes[row] > 0 && event_end > at_ ? std::min(event_end, last_byte_) : end;
  }

  void cut(const TextRun& run, Worker& worker) {
    auto from = static_cast<std::size_t>(std::max(run.begin, at_) - at_);
    auto to = static_cast<std::size_t>(std::min(run.end - at_, worker.block.size()));
    const bool is_start = run.begin >= at_, is_events = run.kind == TextRun::Kind::kEvents;
    if (is_start && is_events && worker.block[from] != '{') throw changed();
    const auto is_between = [&](std::size_t at) {
      return worker.block[at] == ',' || static_cast<unsigned char>(worker.block[at]) <= ' ';
    };
    while (is_events && from < to && is_between(from)) ++from;
    while (is_events && from < to && is_between(to - 1)) --to;
    if (from == to) return;
    const bool is_everywhere = run.part == TextRun::kEveryPart;
    worker.pieces.push_back({.first = from,
                             .size = to - from,
                             .is_events = is_events,
                             .is_tail = is_start && run.kind == TextRun::Kind::kTail,
                             .is_counted = is_first_pass_ || !is_everywhere});
    const std::size_t piece = worker.pieces.size() - 1;
    if (!is_everywhere) return worker.cuts.push_back({run.part, piece});
    for (std::uint32_t part = 0; part < parts_; ++part) worker.cuts.push_back({part, piece});
  }
  [[nodiscard]] Error changed() const {
    return {in_.name(), "the file has changed while it was read"};
  }

  io::Stream& in_;
  std::vector<TextRun> runs_;  // by begin
  std::vector<TextRun> open_;  // those that go on in the next block
  const EventPlaces& places_;
  std::size_t parts_;
  bool is_first_pass_;
  std::size_t next_ = 0;
  std::uint64_t at_ = 0, last_byte_ = 0;
};

}  // namespace

JsonRepairs copy_parts(const std::string& trace, std::vector<TextRun> runs,
                       std::span<const std::string> names, const CopyOptions& options,
                       OutputFolder& folder) {
  std::erase_if(runs, [](const TextRun& run) { return run.begin >= run.end; });
  std::ranges::stable_sort(runs, {}, [](const TextRun& run) { return run.begin; });
  io::GzipPacker packer;
  const io::GzipPiece opening = packer.pack(options.opening), line = packer.pack("\n"),
                      comma_and_line = packer.pack(",\n"), closing = packer.pack(options.closing);
  JsonRepairs repairs;
  for (std::size_t first = 0; first < names.size(); first += kOpenFiles) {
    const std::size_t end = std::min(names.size(), first + kOpenFiles);
    std::vector<Part> parts;
    parts.reserve(end - first);
    for (std::size_t i = first; i < end; ++i) parts.emplace_back(folder, names[i]).add(opening);
    io::Stream in = io::Stream::open(trace);
    const int threads = io::thread_count(options.threads);
    in.use_threads(threads);
    Cutter cutter{in, runs, options.places, first, end};
    OrderedWork work{[&](Worker& worker) { return cutter.next(worker); },
                     [](Worker& worker) { worker.pack(); },
                     [&](Worker& worker) {
                       repairs.add(worker.repairs);
                       for (const Packed& packed : worker.packed)
                         parts[packed.part].add(packed, line, comma_and_line);
                     }};
    work.run(in.threads_left_of(threads), [] { return Worker{}; });
    for (Part& part : parts) part.finish(folder, closing);
  }
  return repairs;
}

}  // namespace tracelens
