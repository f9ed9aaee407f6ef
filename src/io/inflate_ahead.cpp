#include "io/inflate_ahead.hpp"

#include <algorithm>
#include <cstring>
#include <exception>
#include <utility>

#include "io/input_buffer.hpp"

namespace tracelens::io {

using inflating::BlockTokens;

struct InflateAhead::Piece {
  explicit Piece(std::size_t most_bytes)
      : bytes{std::make_unique_for_overwrite<char[]>(most_bytes)} {}

  [[nodiscard]] std::uint64_t end() const { return begin + own; }
  // Counted in bits of all packed bytes.
  [[nodiscard]] std::uint64_t first_bit() const { return 8 * begin; }
  [[nodiscard]] std::uint64_t end_bit() const { return 8 * end(); }
  [[nodiscard]] bool has(std::uint64_t bit) const { return bit >= first_bit() && bit < end_bit(); }

  void read_tokens(std::uint64_t likely) {
    const std::span<const char> packed{bytes.get(), own + more};
    const auto found = has(likely) ? std::optional{likely - first_bit()}
                                   : inflating::find_block(packed, 0, 8 * std::uint64_t{own});
    if (!found) return;
    tokens.read(packed, *found, 8 * std::uint64_t{own});
    tokens_begin = first_bit() + *found;
    tokens_end = first_bit() + tokens.end();
  }

  std::unique_ptr<char[]> bytes;
  std::uint64_t begin = 0;        // of all packed bytes
  std::size_t own = 0, more = 0;  // bytes of this piece, and of the next one behind them
  BlockTokens tokens;
  std::uint64_t tokens_begin = 0, tokens_end = 0;  // equal: there are none
  bool is_posted = false, is_done = false;
};

InflateAhead::InflateAhead(std::unique_ptr<ByteSource> packed, std::uint64_t first_byte,
                           int helpers, std::size_t piece_bytes)
    : packed_{std::move(packed)},
      piece_bytes_{piece_bytes},
      most_pieces_{static_cast<std::size_t>(helpers) + 2},
      wanted_helpers_{static_cast<std::size_t>(helpers)},
      read_bytes_{first_byte},
      given_bytes_{first_byte} {}

InflateAhead::~InflateAhead() {
  {
    const std::lock_guard lock{mutex_};
    is_ended_ = true;
  }
  has_jobs_.notify_all();
  for (std::thread& helper : helpers_) helper.join();
}

int InflateAhead::helpers_for(int threads) { return threads < 4 ? 0 : threads < 8 ? 1 : 3; }

const BlockTokens* InflateAhead::tokens_from(std::uint64_t bit) {
  while (!pieces_.empty() && pieces_.front()->end_bit() <= bit) drop_first();
  while (pieces_.size() < most_pieces_ && read_piece()) {
  }
  if (pieces_.empty() || !pieces_.front()->has(bit) || !pieces_.front()->is_posted) return nullptr;
  const Piece& piece = *pieces_.front();
  std::unique_lock lock{mutex_};
  is_done_.wait(lock, [&piece] { return piece.is_done; });
  return piece.tokens_begin == bit && piece.tokens_end > bit ? &piece.tokens : nullptr;
}

std::uint64_t InflateAhead::end_of_tokens() const { return pieces_.front()->tokens_end; }

double InflateAhead::progress() const {
  return part_of(packed_->progress(), given_bytes_, read_bytes_);
}

std::size_t InflateAhead::produce(std::span<char> into) {
  std::size_t given = 0;
  while (given < into.size()) {
    if (given_bytes_ == read_bytes_ && !read_piece()) break;
    const auto piece = std::ranges::find_if(
        pieces_, [this](const auto& any) { return any->has(8 * given_bytes_); });
    const auto from = static_cast<std::size_t>(given_bytes_ - (*piece)->begin);
    const std::size_t count = std::min(into.size() - given, (*piece)->own - from);
    std::memcpy(into.data() + given, (*piece)->bytes.get() + from, count);
    given += count;
    given_bytes_ += count;
    // In the middle of a long block nobody asks for tokens.
    while (pieces_.front()->end() + InputBuffer::kBlockBytes <= given_bytes_) drop_first();
  }
  return given;
}

bool InflateAhead::read_piece() {
  if (is_over_) return false;
  if (spare_.empty()) spare_.push_back(std::make_shared<Piece>(piece_bytes_ + piece_bytes_ / 2));
  const std::shared_ptr<Piece> piece = spare_.back();
  const std::size_t got = packed_->read({piece->bytes.get(), piece_bytes_});
  is_over_ = got < piece_bytes_;
  if (got > 0) {
    spare_.pop_back();
    piece->begin = read_bytes_;
    piece->own = got;
    piece->more = 0;
    piece->is_posted = piece->is_done = false;
    piece->tokens_begin = piece->tokens_end = 0;
    read_bytes_ += got;
  }
  // What begins in a piece may end in the next one.
  if (!pieces_.empty() && !pieces_.back()->is_posted) {
    Piece& before = *pieces_.back();
    before.more = std::min(got, piece_bytes_ / 2);
    if (got > 0) std::memcpy(before.bytes.get() + before.own, piece->bytes.get(), before.more);
    post(pieces_.back());
  }
  if (got > 0) pieces_.push_back(piece);
  return got > 0;
}

void InflateAhead::post(std::shared_ptr<Piece> piece) {
  try {
    while (helpers_.size() < wanted_helpers_) helpers_.emplace_back([this] { help(); });
  } catch (const std::exception&) {
    wanted_helpers_ = helpers_.size();  // the system gives no more threads
  }
  if (helpers_.empty()) return;
  piece->is_posted = true;
  {
    const std::lock_guard lock{mutex_};
    jobs_.push_back(std::move(piece));
  }
  has_jobs_.notify_one();
}

void InflateAhead::drop_first() {
  std::shared_ptr<Piece> piece = std::move(pieces_.front());
  pieces_.pop_front();
  const std::lock_guard lock{mutex_};
  const bool was_waiting = std::erase(jobs_, piece) > 0;
  // One that a helper has is let go by it.
  if (!piece->is_posted || was_waiting || piece->is_done) spare_.push_back(std::move(piece));
}

void InflateAhead::help() {
  std::unique_lock lock{mutex_};
  while (true) {
    has_jobs_.wait(lock, [this] { return is_ended_ || !jobs_.empty(); });
    if (is_ended_) return;
    const std::shared_ptr<Piece> piece = std::move(jobs_.front());
    jobs_.pop_front();
    const std::uint64_t likely = last_end_;
    lock.unlock();
    piece->read_tokens(likely);
    lock.lock();
    piece->is_done = true;
    last_end_ = piece->tokens_end;
    is_done_.notify_one();
  }
}

}  // namespace tracelens::io
