// The reader runs as N identical threads (ordered_work.hpp), each with a block of text. While one
// unpacks, the others decode.
//
// A block may start or end anywhere: where it is cut is a guess, made without reading the text. The
// first block starts at a known place, and decoding tells exactly where the last whole element of a
// block ends; so when a block turns out to end inside an element, the block after it is decoded
// again together with the rest of the element. That is rare, costs one block, and makes the result
// independent of where the cuts are and of how many threads there are.
#include "readers/kineto/kineto.hpp"

#include <fmt/format.h>

#include <cctype>
#include <cstdint>
#include <memory>
#include <optional>
#include <tracelens/error.hpp>
#include <tracelens/trace_builder.hpp>
#include <utility>
#include <vector>

#include "io/text_piece.hpp"
#include "io/threads.hpp"
#include "readers/chrome/holes.hpp"
#include "readers/chrome/long_events.hpp"
#include "readers/chrome/padded_text.hpp"
#include "readers/chrome/strict_json.hpp"
#include "readers/chrome/top_level.hpp"
#include "readers/kineto/columns.hpp"
#include "readers/kineto/event.hpp"
#include "readers/kineto/text_limits.hpp"
#include "readers/kit/ordered_work.hpp"
#include "readers/kit/room_estimate.hpp"
#include "readers/kit/source.hpp"

namespace tracelens {
namespace {

using kineto::BlockMerger;
using kineto::EventParser;
using kineto::KnownSignatures;
using kineto::ParsedBlock;
using kineto::Problem;
using kineto::TopLevel;

constexpr std::size_t kCutSearchBytes = std::size_t{64} << 10;
// Members besides the events are kept whole; a file with more than this before its events is no
// trace.
constexpr std::size_t kLongestHeader = std::size_t{256} << 20;

bool is_space(char c) { return static_cast<unsigned char>(c) <= ' '; }

// Position of the '{' when `text` at `brace` reads } , { " and a letter, with any white space; else
// npos. In valid JSON that letter proves that the quote opens a member name.
std::size_t next_object_after(std::string_view text, std::size_t brace) {
  std::size_t at = brace + 1;
  const auto skip = [&] {
    while (at < text.size() && is_space(text[at])) ++at;
  };
  const auto take = [&](char c) {
    skip();
    return at < text.size() && text[at] == c && ++at != 0;
  };
  if (!take(',') || !take('{')) return std::string_view::npos;
  const std::size_t open = at - 1;
  if (!take('"') || at >= text.size()) return std::string_view::npos;
  return std::isalpha(static_cast<unsigned char>(text[at])) != 0 ? open : std::string_view::npos;
}

struct Block {
  PaddedText text;
  std::uint64_t first_byte = 0;  // in the whole file
  double fraction = 0;
  bool is_last = false;
  // What is not in `text` yet, see BlockSource::fill(). Of a plain file: what is to be read.
  std::uint64_t begin = 0, end = 0;
  // Or a piece, and how much of the text before it is that of a piece, which leaves its end to this one.
  std::shared_ptr<io::TextPiece> piece = {};
  std::size_t piece_before = 0;
};

// The text of the event list and what follows it, in blocks. One thread at a time takes the next; of a
// plain file it then reads its block by itself, while others read theirs, and so it unpacks what it can.
class BlockSource {
 public:
  BlockSource(io::Stream& in, std::size_t block_bytes, int threads)
      : in_{in}, block_bytes_{block_bytes}, plain_size_{in.plain_size()} {
    in_.hand_out_pieces(threads, block_bytes);
  }

  // Reads up to the event list, telling `top` what comes before it, and returns that.
  std::string open(TopLevel& top) {
    for (std::size_t want = block_bytes_;; want *= 2) {
      PaddedText& text = rest_;
      const std::size_t missing = want - text.size();
      const std::size_t got = in_.read(text.room(missing));
      text.resize(text.size() + got);
      const std::size_t list = top.open(text.view(), got < missing);
      if (list != TopLevel::kNeedMore) {
        std::string before{text.view().substr(0, list)};
        text.erase_front(list);
        first_byte_ = next_byte_ = list;
        return before;
      }
      if (want > kLongestHeader)
        throw Error{in_.name(), fmt::format("not a trace: no \"traceEvents\" list in the first {} "
                                            "MB of JSON",
                                            kLongestHeader >> 20)};
    }
  }

  // False when the file is used up; every file has at least one block.
  bool next(Block& block) {
    if (is_done_) return false;
    if (plain_size_) return next_of_file(block);
    block.text.clear();
    block.text.append(rest_.view());
    rest_.clear();
    block.first_byte = next_byte_;
    if (auto piece = in_.next_piece()) return next_of_piece(block, std::move(piece));
    const std::size_t want = std::max(block_bytes_, block.text.size() + 1) - block.text.size();
    const std::size_t got = in_.read(block.text.room(want));
    block.text.resize(block.text.size() + got);
    block.is_last = is_done_ = got < want && !in_.is_piece_next();
    if (!is_done_) {
      const std::size_t cut = guess_cut(block.text.view());
      rest_.append(block.text.view().substr(cut));
      block.text.resize(cut);
    }
    block.fraction = in_.progress();
    next_byte_ += block.text.size();
    return true;
  }

  // Reads what next() has only told the place of. For the thread that works on the block.
  void fill(Block& block) const {
    if (block.piece) unpack(block, *std::exchange(block.piece, nullptr));
    if (!plain_size_) return;
    block.text.clear();
    const std::uint64_t begin = cut_before(block.begin, block.text);
    block.first_byte = begin;
    const auto want = static_cast<std::size_t>(block.end - block.begin);
    const std::size_t got = in_.read_at(block.begin, block.text.room(want));
    block.text.resize(block.text.size() + got);
    if (block.is_last) return;
    cut_end(block.text, std::min(block.text.size(), cut_window()));
  }

 private:
  // Both neighbours of a cut look for it in the same text, so it must lie in the block before it.
  [[nodiscard]] std::size_t cut_window() const { return std::min(kCutSearchBytes, block_bytes_); }

  // At the last cut in so many bytes of it.
  static void cut_end(PaddedText& text, std::size_t last_bytes) {
    const std::size_t before = text.size() - last_bytes;
    text.resize(before + guess_cut(text.view().substr(before)));
  }

  bool next_of_piece(Block& block, std::shared_ptr<io::TextPiece> piece) {
    const std::string_view end = piece->end();
    rest_.append(end.substr(guess_cut(end)));
    next_byte_ += block.text.size() + piece->size() - rest_.size();
    block.piece_before = std::exchange(piece_before_, end.empty() ? piece->size() : 0);
    block.piece = std::move(piece);
    block.fraction = in_.progress();
    block.is_last = false;
    return true;
  }

  // Between pieces both neighbours of a cut look for it in the end of the first, as far as the second knows it.
  static void unpack(Block& block, io::TextPiece& piece) {
    const auto before = piece.before();
    const std::size_t known = std::min(block.piece_before, before.size());
    const std::string_view end_before{before.data() + before.size() - known, known};
    const std::string_view begun = end_before.substr(guess_cut(end_before));
    block.first_byte -= begun.size();
    block.text.append(begun);
    piece.write(block.text.room(piece.size()), before);
    block.text.resize(block.text.size() + piece.size());
    cut_end(block.text, std::min(piece.size(), before.size()));
  }

  bool next_of_file(Block& block) {
    block.begin = next_byte_;
    block.end = std::min(*plain_size_, next_byte_ + block_bytes_);
    block.fraction = static_cast<double>(block.end) / static_cast<double>(*plain_size_);
    block.is_last = is_done_ = block.end == *plain_size_;
    next_byte_ = block.end;
    return true;
  }

  // Where the block that is to begin at `byte` does begin; `text` gets what lies between.
  std::uint64_t cut_before(std::uint64_t byte, PaddedText& text) const {
    if (byte == first_byte_) return byte;
    const std::uint64_t from =
        std::max(first_byte_, byte - std::min<std::uint64_t>(byte, cut_window()));
    const std::size_t got = in_.read_at(from, text.room(static_cast<std::size_t>(byte - from)));
    text.resize(got);
    const std::size_t cut = guess_cut(text.view());
    text.erase_front(cut);
    return from + cut;
  }

  io::Stream& in_;
  std::size_t block_bytes_;
  std::optional<std::uint64_t> plain_size_;
  PaddedText rest_;               // read, but behind the last cut
  std::size_t piece_before_ = 0;  // of a piece that was handed out, and whose end is not known yet
  std::uint64_t first_byte_ = 0, next_byte_ = 0;
  bool is_done_ = false;
};

// For index_kineto().
struct Indexing {
  bool op_arguments = false;
  EventPlaces places = {};
  bool is_frame_strict = true;
};

// What a block is parsed with.
struct Worker {
  Worker(TraceBuilder& builder, KnownSignatures& known, const Indexing* indexing,
         const EventLimits& limits)
      : merger{parser, builder, known} {
    parser.limit_events(limits);
    if (indexing != nullptr) parser.index_only(indexing->op_arguments);
  }
  void decode() {
    parsed.clear();
    outcome = parser.parse(block.text.view(), block.first_byte, parsed);
    merger.prepare(parsed);
  }
  // Any thread may do it, once the rows have their numbers.
  void write() {
    if (std::exchange(is_unwritten, false)) merger.write(parsed);
  }
  Block block;
  EventParser parser;
  ParsedBlock parsed;
  EventParser::Outcome outcome{};
  BlockMerger merger;
  bool is_unwritten = false;  // the rows of `parsed` have their place in the trace
};

// Puts decoded blocks into the trace, in file order; repairs the ones that were cut badly. What is in
// `parsed` has its place then, and Worker::write() is to be called.
class Assembly {
 public:
  Assembly(TraceBuilder& builder, const ReadOptions& options, const TextLimits& limits,
           Indexing* indexing)
      : builder_{builder},
        options_{options},
        limits_{limits},
        places_{indexing == nullptr ? nullptr : &indexing->places} {}

  // After worker.decode().
  void accept(Worker& worker) {
    const Block& block = worker.block;
    builder_.source().text_bytes = block.first_byte + block.text.size();
    if (list_closed_) {
      keep_behind(block.text.view());
    } else if (!is_given_up_) {  // else all is counted that can be
      if (unended_.empty() && !in_hole_)
        take(worker, block.text.view(), block.first_byte, worker.outcome);
      else  // The block before ended inside an element or hole: this one was decoded from a wrong start.
        unended_.append(block.text.view());
      if (block.is_last || unended_.size() > patience_ || unended_.size() >= retry_bytes_)
        go_on(worker, block.is_last);
    }
    if (block.is_last && !list_closed_) {
      if (!is_given_up_)
        builder_.warnings().add("file ends before its event list is closed",
                                builder_.source().text_bytes);
      builder_.source().cut_short = true;
    }
    report(worker);
  }

  [[nodiscard]] bool list_closed() const { return list_closed_; }
  [[nodiscard]] const PaddedText& behind_list() const { return behind_; }
  [[nodiscard]] bool is_behind_cut() const { return is_behind_cut_; }
  [[nodiscard]] const StrayControls& controls() const { return controls_; }

 private:
  // Of rows that have been prepared.
  void number(Worker& worker) {
    worker.merger.number(worker.parsed);
    worker.is_unwritten = true;
    if (places_ == nullptr) return;
    for (const auto& [byte, size] : worker.parsed.places) {
      places_->begins.push_back(byte);
      places_->sizes.push_back(size);
    }
  }

  // Appends what was decoded from `text`, which may be unended_, and keeps what was not an element yet.
  void take(Worker& worker, std::string_view text, std::uint64_t first_byte,
            EventParser::Outcome outcome) {
    number(worker);
    controls_.add(worker.parsed.controls);
    const std::string_view rest = text.substr(outcome.stop);
    in_hole_ = outcome.end == EventParser::End::kInHole;
    if (outcome.end == EventParser::End::kListClosed)
      return close_list(rest, first_byte + outcome.stop);
    if (unended_.empty())
      unended_.append(rest);
    else
      unended_.erase_front(outcome.stop);
    unended_byte_ = first_byte + outcome.stop;
    if (outcome.stop > 0) patience_ = limits_.events.is_long;
    retry_bytes_ = unended_.size() * 2;  // so that a very long element costs linear time
  }

  void close_list(std::string_view behind, std::uint64_t byte) {
    list_closed_ = true;
    list_end_ = byte;
    if (places_ != nullptr) places_->list_end = byte - 1;
    keep_behind(behind);
    unended_.clear();
  }

  // Makes room for other rows.
  static void start_anew(Worker& worker) {
    worker.write();
    worker.parsed.clear();
  }

  void decode_unended(Worker& worker, std::size_t most_bytes) {
    start_anew(worker);
    PaddedText first;
    if (most_bytes < unended_.size()) first.append(unended_.view().substr(0, most_bytes));
    const auto outcome = worker.parser.parse(first.empty() ? unended_.view() : first.view(),
                                             unended_byte_, worker.parsed, in_hole_);
    worker.merger.prepare(worker.parsed);
    take(worker, unended_.view(), unended_byte_, outcome);
  }

  // Reads what unended_ has. Where blocks end is chance, so nothing may depend on how much that is: what does not
  // end is judged by a fixed length of text from its beginning, or by all of it when there is no more.
  void go_on(Worker& worker, bool at_end) {
    while (!unended_.empty() && !list_closed_ && !is_given_up_) {
      if (in_hole_ && unended_.size() > limits_.events.is_long) {
        pass_hole(worker);
        continue;
      }
      decode_unended(worker, unended_.size());
      if (list_closed_ || unended_.empty()) return;
      if (in_hole_) {
        if (unended_.size() > limits_.events.is_long) continue;
        if (at_end) end_list_after_hole();
        return;
      }
      if (!may_still_end(unended_.view(), patience_, limits_.events))
        give_up_unended(worker, kEndlessEvent);
      else if (at_end)
        give_up_unended(worker, "file ends inside an event");
      else
        return;
    }
  }

  // Of much text behind NUL bytes: an event that begins in the first part of it ends there, too, or is none.
  void pass_hole(Worker& worker) {
    const std::uint64_t before = unended_byte_;
    decode_unended(worker, limits_.events.is_long);
    if (list_closed_ || unended_byte_ != before) return;
    unended_.erase_front(limits_.events.is_long);
    unended_byte_ += limits_.events.is_long;
  }

  void end_list_after_hole() {
    const std::size_t end = find_list_end_after_hole(unended_.view());
    if (end == std::string_view::npos) return;
    in_hole_ = false;
    close_list(unended_.view().substr(end), unended_byte_ + end);
  }

  // The element at the front of unended_ has no end: go on with whatever looks like the next one.
  void give_up_unended(Worker& worker, std::string_view why) {
    const std::string_view judged = unended_.view().substr(0, std::min(unended_.size(), patience_));
    const std::size_t next = next_object(judged);
    retried_bytes_ += judged.size();
    if (next == std::string_view::npos || retried_bytes_ >= limits_.retry_bytes) {
      builder_.warnings().add(why, unended_byte_);
      unended_.clear();
      is_given_up_ = true;
      return;
    }
    start_anew(worker);
    worker.parser.append_damaged(Problem::kUnendedEvent, unended_byte_, worker.parsed);
    worker.merger.prepare(worker.parsed);
    number(worker);
    unended_.erase_front(next);
    unended_byte_ += next;
    patience_ = limits_.events.is_long;
  }

  // Where the first object after a comma begins; npos when there is none.
  static std::size_t next_object(std::string_view text) {
    for (std::size_t brace = text.find('}'); brace != std::string_view::npos;
         brace = text.find('}', brace + 1))
      if (const std::size_t next = next_object_after(text, brace); next != std::string_view::npos)
        return next;
    return std::string_view::npos;
  }

  void keep_behind(std::string_view text) {
    if (is_behind_cut_) return;
    const std::size_t room = limits_.tail - behind_.size();
    behind_.append(text.substr(0, std::min(text.size(), room)));
    if (text.size() <= room) return;
    is_behind_cut_ = true;
    builder_.warnings().add("text behind the event list that is too long to keep",
                            list_end_ + limits_.tail);
  }

  void report(const Worker& worker) {
    const Block& block = worker.block;
    room_.estimate(block.fraction);
    if (options_.on_progress)
      options_.on_progress({block.fraction, builder_.source().text_bytes, builder_.size()});
  }

  TraceBuilder& builder_;
  const ReadOptions& options_;
  const TextLimits limits_;
  EventPlaces* places_;  // nullptr: nobody asks
  PaddedText unended_;   // text from the start of an element whose end has not been seen
  std::uint64_t unended_byte_ = 0;
  std::size_t retry_bytes_ = 0, patience_ = limits_.events.is_long;
  std::uint64_t retried_bytes_ = 0;
  bool is_given_up_ = false, in_hole_ = false;
  PaddedText behind_;  // text after the event list
  std::uint64_t list_end_ = 0;
  bool is_behind_cut_ = false;
  StrayControls controls_;
  bool list_closed_ = false;
  RoomEstimate room_{builder_};  // columns seldom move then while threads write into them
};

}  // namespace

bool is_kineto(std::string_view head) {
  if (head.starts_with("\xEF\xBB\xBF")) head.remove_prefix(3);
  while (!head.empty() && is_space(head.front())) head.remove_prefix(1);
  return head.starts_with('{') || head.starts_with('[');
}

std::size_t guess_cut(std::string_view text) {
  const std::size_t nearest = text.size() > kCutSearchBytes ? text.size() - kCutSearchBytes : 0;
  for (std::size_t brace = text.rfind('}'); brace != std::string_view::npos && brace >= nearest;
       brace = brace == 0 ? std::string_view::npos : text.rfind('}', brace - 1))
    if (next_object_after(text, brace) != std::string_view::npos) return brace + 1;
  return text.size();
}

namespace {

Trace read_blocks(io::Stream& in, const ReadOptions& options, const TextLimits& limits,
                  Indexing* indexing) {
  TraceBuilder builder;
  TopLevel top{in.name(), builder};
  const int threads = io::thread_count(options.threads);
  BlockSource source{in, std::max<std::size_t>(options.block_bytes, 16), threads};
  const std::string before = source.open(top);
  KnownSignatures known;
  Assembly assembly{builder, options, limits, indexing};
  OrderedWork work{[&](Worker& worker) { return source.next(worker.block); },
                   [&](Worker& worker) {
                     source.fill(worker.block);
                     worker.decode();
                   },
                   [&](Worker& worker) { assembly.accept(worker); },
                   [](Worker& worker) { worker.write(); }};
  work.run(in.threads_left_of(threads), [&] {
    return Worker{builder, known, indexing, limits.events};
  });
  assembly.controls().add_to(builder.warnings());
  if (assembly.list_closed() && !top.close(assembly.behind_list().view()) &&
      !assembly.is_behind_cut()) {
    builder.warnings().add("file ends before its last brace", builder.source().text_bytes);
    builder.source().cut_short = true;
  }
  if (indexing != nullptr) {
    indexing->places.list_begin = before.size();
    const bool is_list = before.find('{') == std::string::npos;
    const std::string behind{assembly.behind_list().view()};
    indexing->is_frame_strict =
        json::is_strict_json(before + (is_list ? "]" : "]}")) &&
        (!assembly.list_closed() || json::is_strict_json((is_list ? "[]" : "{\"a\": []") + behind));
  }
  describe_source(builder, in, Recorder::kPyTorch, "kineto");
  return std::move(builder).finish();
}

}  // namespace

Trace read_kineto(io::Stream& in, const ReadOptions& options) {
  return read_blocks(in, options, {}, nullptr);
}

Trace read_kineto_within(io::Stream& in, const ReadOptions& options, const TextLimits& limits) {
  return read_blocks(in, options, limits, nullptr);
}

TextIndex index_kineto(io::Stream& in, const ReadOptions& options, bool op_arguments) {
  Indexing indexing{.op_arguments = op_arguments};
  Trace trace = read_blocks(in, options, {}, &indexing);
  return {std::move(trace), std::move(indexing.places), indexing.is_frame_strict};
}

}  // namespace tracelens
