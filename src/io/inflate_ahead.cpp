#include "io/inflate_ahead.hpp"

#include <algorithm>
#include <cstring>
#include <new>
#include <utility>

#include "io/check.hpp"
#include "io/input_buffer.hpp"

namespace tracelens::io {

using inflating::BlockTokens;

namespace {

// A single block may have more than the packed bytes of a small piece.
constexpr std::size_t kLeastTokens = std::size_t{128} << 10;

}  // namespace

// Room for tokens that comes back when nobody uses it any more; from any thread, and at any time.
class InflateAhead::TokenPool {
 public:
  explicit TokenPool(std::size_t bytes) : bytes_{bytes} {}

  static std::shared_ptr<BlockTokens> take(const std::shared_ptr<TokenPool>& pool) {
    return {pool->spare_or_new().release(), [pool](BlockTokens* tokens) {
              const std::lock_guard lock{pool->mutex_};
              pool->spare_.emplace_back(tokens);
            }};
  }

 private:
  std::unique_ptr<BlockTokens> spare_or_new() {
    const std::lock_guard lock{mutex_};
    if (spare_.empty()) {
      spare_.reserve(made_ + 1);  // so that coming back needs no memory
      spare_.push_back(std::make_unique<BlockTokens>(bytes_));
      ++made_;
    }
    std::unique_ptr<BlockTokens> tokens = std::move(spare_.back());
    spare_.pop_back();
    return tokens;
  }

  const std::size_t bytes_;
  std::mutex mutex_;
  std::vector<std::unique_ptr<BlockTokens>> spare_;
  std::size_t made_ = 0;
};

struct InflateAhead::Piece {
  explicit Piece(std::size_t most_own_bytes)
      : bytes{std::make_unique_for_overwrite<char[]>(most_own_bytes + most_own_bytes / 2)} {}

  [[nodiscard]] std::uint64_t end() const { return begin + own_bytes; }
  // Counted in bits of all packed bytes.
  [[nodiscard]] std::uint64_t first_bit() const { return 8 * begin; }
  [[nodiscard]] std::uint64_t end_bit() const { return 8 * end(); }
  [[nodiscard]] bool contains(std::uint64_t bit) const {
    return bit >= first_bit() && bit < end_bit();
  }

  // A block is likely to begin at the bit `guess`, if that is in this piece.
  void read_tokens(std::uint64_t guess) {
    std::uint64_t searched = 0;
    if (contains(guess)) {
      read_tokens_from(guess - first_bit());
      if (tokens_begin < tokens_end) return;
      searched = guess - first_bit() + 1;
    }
    if (const auto found = inflating::find_block(packed(), searched, own_bits()))
      read_tokens_from(*found);
  }
  [[nodiscard]] std::span<const char> packed() const {
    return {bytes.get(), own_bytes + next_bytes};
  }
  [[nodiscard]] std::uint64_t own_bits() const { return 8 * std::uint64_t{own_bytes}; }
  void read_tokens_from(std::uint64_t bit) {
    tokens->read(packed(), bit, own_bits());
    tokens_begin = first_bit() + bit;
    tokens_end = first_bit() + tokens->end();
  }

  // Without memory for it they are whole.
  void divide_tokens(std::size_t part_bytes) {
    if (tokens_begin == tokens_end) return;
    try {
      divided = inflating::divide(*tokens, part_bytes);
    } catch (const std::bad_alloc&) {
      divided.parts.clear();
    }
  }

  std::unique_ptr<char[]> bytes;
  std::uint64_t begin = 0;                    // of all packed bytes
  std::size_t own_bytes = 0, next_bytes = 0;  // of this piece, and of the next one behind them
  std::shared_ptr<BlockTokens> tokens;
  std::uint64_t tokens_begin = 0, tokens_end = 0;  // equal: there are none
  inflating::TokenParts divided;
  bool is_posted = false, is_done = false;
};

InflateAhead::InflateAhead(std::unique_ptr<ByteSource> packed, std::uint64_t first_byte,
                           int helpers, std::size_t piece_bytes)
    : packed_{std::move(packed)},
      piece_bytes_{piece_bytes},
      tokens_{std::make_shared<TokenPool>(std::max(piece_bytes, kLeastTokens))},
      most_pieces_{static_cast<std::size_t>(helpers) + 2},
      wanted_helpers_{static_cast<std::size_t>(helpers)},
      read_bytes_{first_byte},
      given_bytes_{first_byte},
      was_damaged_{!packed_->damage().empty()} {
  TL_CHECK(piece_bytes_ >= 1024);  // each has room for tokens besides
}

InflateAhead::~InflateAhead() {
  {
    const std::lock_guard lock{mutex_};
    is_ended_ = true;
  }
  has_jobs_.notify_all();
  for (std::thread& helper : helpers_) helper.join();
}

int InflateAhead::helpers_for(int threads) { return threads < 4 ? 0 : threads < 8 ? 1 : 3; }

int InflateAhead::helpers_with_parts(int threads) {
  constexpr int kWorthIt = 12;  // with fewer the work, a quarter more in all, takes as long
  constexpr int kMost = 8;      // more of them read faster than any number of threads parses
  return threads < kWorthIt ? 0 : std::min(threads * 3 / 8, kMost);
}

void InflateAhead::divide_tokens(int helpers, std::size_t part_bytes) {
  constexpr std::size_t kLeast = std::size_t{256}
                                 << 10;  // each has its window, which takes its time
  const std::lock_guard lock{mutex_};
  part_bytes_ = std::max(part_bytes, kLeast);
  wanted_helpers_ = std::max(wanted_helpers_, static_cast<std::size_t>(helpers));
  // One is handed out at a time, but not all take equally long: helpers go on while some wait for their turn.
  constexpr std::size_t kMostWaiting = 4;
  most_pieces_ = wanted_helpers_ + kMostWaiting;
}

const BlockTokens* InflateAhead::tokens_from(std::uint64_t bit) {
  while (!pieces_.empty() && pieces_.front()->end_bit() <= bit) drop_first();
  while (pieces_.size() < most_pieces_ && read_piece()) {
  }
  if (pieces_.empty() || !pieces_.front()->contains(bit) || !pieces_.front()->is_posted)
    return nullptr;
  const Piece& piece = *pieces_.front();
  std::unique_lock lock{mutex_};
  is_done_.wait(lock, [&piece] { return piece.is_done; });
  return piece.tokens_begin == bit && piece.tokens_end > bit ? piece.tokens.get() : nullptr;
}

std::uint64_t InflateAhead::end_of_tokens() const { return pieces_.front()->tokens_end; }

bool InflateAhead::has_parts() const { return !pieces_.front()->divided.parts.empty(); }

inflating::TokenParts InflateAhead::take_parts() {
  return std::exchange(pieces_.front()->divided, {});
}

std::shared_ptr<const void> InflateAhead::owner_of_parts() const { return pieces_.front()->tokens; }

double InflateAhead::progress() const {
  return part_of(packed_->progress(), given_bytes_, read_bytes_);
}

std::size_t InflateAhead::produce(std::span<char> into) {
  std::size_t given = 0;
  while (given < into.size()) {
    if (given_bytes_ == read_bytes_ && !read_piece()) {
      if (failure_) std::rethrow_exception(failure_);
      break;
    }
    const auto piece = std::ranges::find_if(
        pieces_, [this](const auto& any) { return any->contains(8 * given_bytes_); });
    const auto from = static_cast<std::size_t>(given_bytes_ - (*piece)->begin);
    const std::size_t count = std::min(into.size() - given, (*piece)->own_bytes - from);
    std::memcpy(into.data() + given, (*piece)->bytes.get() + from, count);
    given += count;
    given_bytes_ += count;
    // In the middle of a long block nobody asks for tokens.
    while (pieces_.front()->end() + InputBuffer::kBlockBytes <= given_bytes_) drop_first();
  }
  return given;
}

const std::string& InflateAhead::damage() const {
  static const std::string kNone;
  const bool is_known = was_damaged_ || (is_over_ && given_bytes_ == read_bytes_);
  return is_known ? packed_->damage() : kNone;
}

// Packed bytes that cannot be read matter when the unpacker comes to them.
std::size_t InflateAhead::read_packed(std::span<char> into) {
  try {
    return packed_->read(into);
  } catch (...) {
    failure_ = std::current_exception();
    return 0;
  }
}

bool InflateAhead::read_piece() {
  if (is_over_) return false;
  if (spare_.empty()) spare_.push_back(std::make_shared<Piece>(piece_bytes_));
  spare_.back()->tokens.reset();  // to have them again, unless somebody still writes text from them
  spare_.back()->tokens = TokenPool::take(tokens_);
  pieces_.reserve(pieces_.size() + 1);  // what was read is not lost for want of memory
  const std::shared_ptr<Piece> piece = spare_.back();
  // The first ones are small: everybody waits for them.
  const std::size_t wanted = read_pieces_++ < wanted_helpers_ ? piece_bytes_ / 4 : piece_bytes_;
  const std::size_t got = read_packed({piece->bytes.get(), wanted});
  is_over_ = got < wanted;
  const std::shared_ptr<Piece> before = pieces_.empty() ? nullptr : pieces_.back();
  if (got > 0) {
    spare_.pop_back();
    piece->begin = read_bytes_;
    piece->own_bytes = got;
    piece->next_bytes = 0;
    piece->is_posted = piece->is_done = false;
    piece->tokens_begin = piece->tokens_end = 0;
    piece->divided.parts.clear();
    pieces_.push_back(piece);
    read_bytes_ += got;
  }
  // What begins in a piece may end in the next one.
  if (before && !before->is_posted) {
    before->next_bytes = std::min(got, piece_bytes_ / 2);
    std::memcpy(before->bytes.get() + before->own_bytes, piece->bytes.get(), before->next_bytes);
    post(before);
  }
  if (got > 0 && is_over_) post(piece);
  return got > 0;
}

void InflateAhead::post(const std::shared_ptr<Piece>& piece) {
  try {
    while (helpers_.size() < wanted_helpers_) helpers_.emplace_back([this] { help(); });
  } catch (const std::exception&) {
    wanted_helpers_ = helpers_.size();  // the system gives no more threads
  }
  if (helpers_.empty()) return;
  {
    const std::lock_guard lock{mutex_};
    jobs_.push_back(piece);
  }
  piece->is_posted = true;
  has_jobs_.notify_one();
}

void InflateAhead::drop_first() {
  const std::shared_ptr<Piece> piece = pieces_.front();
  pieces_.erase(pieces_.begin());
  const std::lock_guard lock{mutex_};
  const bool was_waiting = std::erase(jobs_, piece) > 0;
  // One that a helper has is let go by it.
  if (!piece->is_posted || was_waiting || piece->is_done) spare_.push_back(piece);
}

void InflateAhead::help() {
  std::unique_lock lock{mutex_};
  while (true) {
    has_jobs_.wait(lock, [this] { return is_ended_ || !jobs_.empty(); });
    if (is_ended_) return;
    const std::shared_ptr<Piece> piece = jobs_.front();
    jobs_.erase(jobs_.begin());
    const std::uint64_t guess = last_end_;
    const std::size_t part_bytes = part_bytes_;
    lock.unlock();
    piece->read_tokens(guess);
    if (part_bytes > 0) piece->divide_tokens(part_bytes);
    lock.lock();
    piece->is_done = true;
    last_end_ = piece->tokens_end;
    is_done_.notify_one();
  }
}

}  // namespace tracelens::io
