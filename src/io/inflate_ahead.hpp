// inflate_ahead.hpp: other threads read the codes of deflate data before whoever unpacks it gets there.
//   InflateAhead packed{std::move(file), 0, helpers_for(threads), kPieceBytes};   // still the packed bytes
//   if (const BlockTokens* known = packed.tokens_from(bit)) inflater.copy(...);   // else: unpack them as ever
// Packed bytes are read in pieces, some of them ahead. A helper finds the first block that begins in a piece and
// reads the codes of all that do (io/inflate_tokens.hpp); that these are the right ones shows when the unpacker comes
// to that very bit. What is rare is left to the unpacker, and so what is damaged, and the text is the same whoever
// helps.
#pragma once

#include <condition_variable>
#include <cstddef>
#include <cstdint>
#include <exception>
#include <memory>
#include <mutex>
#include <thread>
#include <vector>

#include "io/byte_source.hpp"
#include "io/inflate_parts.hpp"

namespace tracelens::io {

class InflateAhead final : public ByteSource {
 public:
  // `first_byte` is where `packed` goes on, of all the packed bytes there are.
  InflateAhead(std::unique_ptr<ByteSource> packed, std::uint64_t first_byte, int helpers,
               std::size_t piece_bytes);
  ~InflateAhead() override;

  // How many of so many threads are best off as helpers; and where the others also write the text.
  [[nodiscard]] static int helpers_for(int threads);
  [[nodiscard]] static int helpers_with_parts(int threads);
  // So many helpers from now on divide what they have read, for text to be written by several threads.
  void divide_tokens(int helpers, std::size_t part_bytes);

  // Of the blocks from this bit of all packed bytes on; until the next call. None: they are not known. No bit before
  // that of the last call, and none further behind what has been handed out than an InputBuffer holds.
  [[nodiscard]] const inflating::BlockTokens* tokens_from(std::uint64_t bit);
  // The bit behind the blocks that tokens_from() told of last.
  [[nodiscard]] std::uint64_t end_of_tokens() const;
  // Whether those blocks were divided; their parts, once; and what keeps the tokens that these refer to.
  [[nodiscard]] bool has_parts() const;
  [[nodiscard]] inflating::TokenParts take_parts();
  [[nodiscard]] std::shared_ptr<const void> owner_of_parts() const;

  [[nodiscard]] int helpers() const override { return static_cast<int>(wanted_helpers_); }
  [[nodiscard]] std::uint64_t packed_bytes() const override { return packed_->packed_bytes(); }
  [[nodiscard]] double progress() const override;
  // Of what was read ahead, when all before it has been handed out; what was known before it began, at once.
  [[nodiscard]] const std::string& damage() const override;

 private:
  struct Piece;
  class TokenPool;

  std::size_t produce(std::span<char> into) override;
  std::size_t read_packed(std::span<char> into);
  bool read_piece();
  void post(const std::shared_ptr<Piece>& piece);
  void drop_first();
  void help();

  std::unique_ptr<ByteSource> packed_;
  std::size_t piece_bytes_;
  std::shared_ptr<TokenPool> tokens_;
  std::size_t most_pieces_, wanted_helpers_;
  std::size_t read_pieces_ = 0;
  std::uint64_t read_bytes_, given_bytes_;  // ends of what was read, and handed out
  const bool
      was_damaged_;  // before; an archive that is packed itself is all there, and was unpacked as far as it goes
  bool is_over_ = false;                        // nothing is left to be read
  std::exception_ptr failure_;                  // why, if that was thrown
  std::vector<std::shared_ptr<Piece>> pieces_;  // that were read, and may still be asked for
  std::vector<std::shared_ptr<Piece>> spare_;

  std::vector<std::thread> helpers_;
  std::mutex mutex_;  // guards what follows, and of each piece what its helper makes of it
  std::vector<std::shared_ptr<Piece>> jobs_;
  std::uint64_t last_end_ = 0;  // of the tokens that were read last
  bool is_ended_ = false;       // helpers are to go
  std::size_t part_bytes_ = 0;  // 0: nothing is divided
  std::condition_variable has_jobs_, is_done_;
};

}  // namespace tracelens::io
