// inflater.hpp: unpacks deflate data (RFC 1951) piece by piece, as fast as what reads it.
//   Inflater inflater;
//   const auto [taken, made, stop] = inflater.run(packed, into, 0);   // kRoom: `into` is full
//   inflater.keep(into);                                              // for what refers back to it
// Packed bytes that were not taken are to be offered again, with more after them. By hand, and not a
// library: unpacking was a third of what a report costs, and libraries are slower (zlib, on arm64
// ISA-L), or want room for all of the text at once (libdeflate). See docs/decisions/0009.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

#include "io/inflate_blocks.hpp"
#include "io/inflate_tokens.hpp"

namespace tracelens::io {

class Inflater {
 public:
  enum class Stop {
    kInput,   // the packed bytes end within something
    kRoom,    // there is no room for more
    kBlock,   // another block may begin here, see stop_between_blocks()
    kEnd,     // of the data; what follows was not taken
    kDamage,  // no deflate data, from about here on
  };
  struct Progress {
    std::size_t taken = 0, made = 0;
    Stop stop = Stop::kInput;
  };

  Inflater();
  // Forgets everything: other data begins.
  void reset();
  // Goes on behind the first `made` bytes of `into`, which came from earlier calls for the same
  // room. After kEnd and kDamage only reset() may follow.
  [[nodiscard]] Progress run(std::span<const char> packed, std::span<char> into, std::size_t made);
  // Once for each room, before run() gets another one; `made` is what has been written to it.
  void keep(std::span<const char> made);

  // --- for data of which other threads have read some blocks already ---

  void stop_between_blocks() { stops_between_blocks_ = true; }
  // No block is being read, and blocks may refer to all they can refer to; `made` as for run().
  [[nodiscard]] bool may_copy(std::size_t made) const {
    return inside_ == Inside::kNothing && window_bytes_ + made >= kWindow;
  }
  // What was made last, once may_copy(0).
  [[nodiscard]] const inflating::Window& window() const { return window_; }
  // Of the last byte that was taken, the bits that were not used yet.
  [[nodiscard]] unsigned unused_bits() const { return bit_count_; }
  // Writes what tokens tell, like run(); how much is returned. It all was copied when nothing is left of them.
  [[nodiscard]] std::size_t copy(inflating::TokenPlace& place, std::span<char> into,
                                 std::size_t made);
  [[nodiscard]] bool has_copied(const inflating::TokenPlace& place) const {
    return match_left_ == 0 && place.literals_left == 0 && !place.has_match && !place.has_more();
  }
  // What follows begins with the last `bits` bits of the byte that was taken last.
  void go_on_behind(char last_taken, unsigned bits) {
    bits_ = static_cast<std::uint8_t>(last_taken) >> (8 - bits);
    bit_count_ = bits;
  }

 private:
  static constexpr std::size_t kWindow = inflating::kWindow;
  enum class Inside { kNothing, kStored, kCodes };  // a block
  using Bits = inflating::Bits;
  struct Room;
  struct Sink;

  [[nodiscard]] Stop read_blocks(Bits& bits, Room& room);
  [[nodiscard]] Stop begin_block(Bits& bits);
  [[nodiscard]] Stop copy_stored(Bits& bits, Room& room);
  [[nodiscard]] Stop decode(Bits& bits, Room& room);
  void decode_fast(Bits& bits, Room& room) const;
  [[nodiscard]] bool copy_match(Room& room);
  static void copy_fast(inflating::TokenPlace& place, Room& room);

  std::uint64_t bits_ = 0;  // of a byte that was taken, those that were not used yet
  unsigned bit_count_ = 0;
  Inside inside_ = Inside::kNothing;
  bool is_last_ = false;  // no other block follows this one
  bool stops_between_blocks_ = false;
  std::uint32_t stored_left_ = 0;                  // of a stored block
  std::uint32_t match_left_ = 0, match_back_ = 0;  // of a match that found no room
  const inflating::Tables* tables_ = nullptr;      // of the block
  inflating::Tables own_tables_;
  inflating::Window window_;  // what was made before the room there is now, its end
  std::size_t window_bytes_ = 0;
};

}  // namespace tracelens::io
