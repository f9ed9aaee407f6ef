#include "io/inflater.hpp"

#include <algorithm>
#include <cstring>
#include <utility>

#include "io/check.hpp"
#include "io/inflate_loop.hpp"

namespace tracelens::io {
namespace {

using inflating::amount_of, inflating::Begun, inflating::Bits, inflating::Entry, inflating::is_end,
    inflating::is_second, inflating::second_place, inflating::taken_by, inflating::Token,
    inflating::value_of, inflating::word_at;
using inflating::kDistanceBits, inflating::kLiteral, inflating::kLiteralBits, inflating::kMoreBits,
    inflating::kSpecial;

void put_word(char* at, std::uint64_t word) { std::memcpy(at, &word, sizeof word); }

constexpr std::ptrdiff_t kLongestMatch = 258;
constexpr std::size_t kCopyBeyond = 64;  // copy_words() may write so much behind its end

template <std::size_t kBytes>
void copy_bytes(char* out, const char* from) {
  std::array<char, kBytes> bytes;
  std::memcpy(bytes.data(), from, kBytes);
  std::memcpy(out, bytes.data(), kBytes);
}

// `length` bytes from `back` bytes ago, which may be bytes that are written here.
void copy_words(char* out, std::uint32_t back, std::uint32_t length) {
  const char* from = out - back;
  char* const end = out + length;
  // Steps so wide that most matches take one: how many it will be is hard to predict.
  if (back >= kCopyBeyond) {
    do {
      copy_bytes<kCopyBeyond / 2>(out, from);
      copy_bytes<kCopyBeyond / 2>(out + kCopyBeyond / 2, from + kCopyBeyond / 2);
      from += kCopyBeyond;
      out += kCopyBeyond;
    } while (out < end);
  } else if (back >= 8) {
    do {
      put_word(out, word_at(from));
      from += 8;
      out += 8;
    } while (out < end);
  } else if (back == 1) {
    const std::uint64_t same = 0x0101010101010101U * static_cast<std::uint8_t>(*from);
    do {
      put_word(out, same);
      out += 8;
    } while (out < end);
  } else {
    do {  // of each word the first `back` bytes are right
      put_word(out, word_at(from));
      from += back;
      out += back;
    } while (out < end);
  }
}

}  // namespace

struct Inflater::Room {
  char *begin, *out, *end;
};

// For inflating::decode_codes().
struct Inflater::Sink {
  const char *begin, *last;
  char* out;

  [[nodiscard]] bool has_room() const { return out <= last; }
  void literal(char c) { *out++ = c; }
  [[nodiscard]] bool takes(std::uint32_t back) const {
    return back <= static_cast<std::size_t>(out - begin);
  }
  void match(std::uint32_t length, std::uint32_t back) {
    copy_words(out, back, length);
    out += length;
  }
};

Inflater::Inflater() = default;

void Inflater::reset() {
  bits_ = bit_count_ = 0;
  inside_ = Inside::kNothing;
  is_last_ = false;
  stored_left_ = match_left_ = match_back_ = 0;
  window_bytes_ = 0;
}

Inflater::Progress Inflater::run(std::span<const char> packed, std::span<char> into,
                                 std::size_t made) {
  Bits bits{bits_, bit_count_, packed.data(), packed.data() + packed.size()};
  Room room{into.data(), into.data() + made, into.data() + into.size()};
  const Stop stop = read_blocks(bits, room);
  bits.return_bytes();
  bits_ = bits.value;
  bit_count_ = bits.count;
  return {.taken = static_cast<std::size_t>(bits.next - packed.data()),
          .made = static_cast<std::size_t>(room.out - (into.data() + made)),
          .stop = stop};
}

void Inflater::keep(std::span<const char> made) {
  if (made.size() < kWindow) {
    const std::size_t kept = std::min(window_bytes_, kWindow - made.size());
    std::memmove(window_.data() + kWindow - made.size() - kept, window_.data() + kWindow - kept,
                 kept);
    window_bytes_ = kept + made.size();
  } else {
    made = made.last(kWindow);
    window_bytes_ = kWindow;
  }
  if (!made.empty()) std::memcpy(window_.data() + kWindow - made.size(), made.data(), made.size());
}

Inflater::Stop Inflater::read_blocks(Bits& bits, Room& room) {
  while (true) {
    Stop stop = Stop::kEnd;  // of the block
    switch (inside_) {
      case Inside::kNothing: {
        const Bits before = bits;
        stop = begin_block(bits);
        if (stop == Stop::kInput) bits = before;
        if (stop != Stop::kEnd) return stop;
        continue;
      }
      case Inside::kStored:
        stop = copy_stored(bits, room);
        break;
      case Inside::kCodes:
        stop = decode(bits, room);
        break;
    }
    if (stop != Stop::kEnd) return stop;
    inside_ = Inside::kNothing;
    if (is_last_) {
      bits.skip_to_byte();
      return Stop::kEnd;
    }
    if (stops_between_blocks_) return Stop::kBlock;
  }
}

// kEnd: of the header.
Inflater::Stop Inflater::begin_block(Bits& bits) {
  inflating::Block block;
  const Begun begun = inflating::begin_block(bits, own_tables_, block);
  if (begun != Begun::kYes) return begun == Begun::kInput ? Stop::kInput : Stop::kDamage;
  inside_ = block.tables == nullptr ? Inside::kStored : Inside::kCodes;
  is_last_ = block.is_last;
  stored_left_ = block.stored_bytes;
  tables_ = block.tables;
  return Stop::kEnd;
}

Inflater::Stop Inflater::copy_stored(Bits& bits, Room& room) {
  const std::size_t count =
      std::min<std::size_t>({stored_left_, static_cast<std::size_t>(bits.end - bits.next),
                             static_cast<std::size_t>(room.end - room.out)});
  if (count > 0) std::memcpy(room.out, bits.next, count);
  bits.next += count;
  room.out += count;
  stored_left_ -= static_cast<std::uint32_t>(count);
  if (stored_left_ == 0) return Stop::kEnd;
  return room.out == room.end ? Stop::kRoom : Stop::kInput;
}

// Where there is plenty of both, packed bytes and room.
void Inflater::decode_fast(Bits& bits, Room& room) const {
  constexpr std::ptrdiff_t kMade = 3 + kLongestMatch + kCopyBeyond;
  if (room.end - room.out < kMade) return;
  Sink sink{.begin = room.begin, .last = room.end - kMade, .out = room.out};
  inflating::decode_codes_fast(bits, *tables_, sink);
  room.out = sink.out;
}

// Copies what there is room for of the match. False: it refers to what never was.
bool Inflater::copy_match(Room& room) {
  while (match_left_ > 0 && room.out < room.end) {
    const auto here = static_cast<std::size_t>(room.out - room.begin);
    const bool is_here = match_back_ <= here;
    if (!is_here && match_back_ - here > window_bytes_) return false;
    const char* const from =
        is_here ? room.out - match_back_ : window_.data() + kWindow - (match_back_ - here);
    // No further than bytes are there already.
    const std::size_t count =
        std::min<std::size_t>({match_left_, is_here ? match_back_ : match_back_ - here,
                               static_cast<std::size_t>(room.end - room.out)});
    std::memcpy(room.out, from, count);
    room.out += count;
    match_left_ -= static_cast<std::uint32_t>(count);
  }
  return true;
}

// kEnd: of the block.
Inflater::Stop Inflater::decode(Bits& bits, Room& room) {
  while (true) {
    if (!copy_match(room)) return Stop::kDamage;
    if (room.out == room.end) return Stop::kRoom;
    decode_fast(bits, room);

    // One code with care.
    bits.fill();
    const Bits before = bits;
    const auto entry_in = [&bits](std::span<const Entry> table, unsigned width) {
      const Entry entry = table[bits.value & ((1U << width) - 1)];
      if (!is_second(entry)) return entry;
      if (bits.count < width) return kMoreBits;
      bits.drop(width);
      return table[second_place(entry, bits.value)];
    };
    // Where bits are missing, whatever was found is nothing.
    const auto stop_before = [&](Stop stop) {
      bits = before;
      return stop;
    };
    const Entry code = entry_in(tables_->literals, kLiteralBits);
    if (bits.count < taken_by(code)) return stop_before(Stop::kInput);
    if ((code & kLiteral) != 0) {
      *room.out++ = static_cast<char>(value_of(code));
      bits.drop(taken_by(code));
      continue;
    }
    if (is_end(code)) {
      bits.drop(taken_by(code));
      return Stop::kEnd;
    }
    if ((code & kSpecial) != 0) return stop_before(Stop::kDamage);
    const std::uint32_t length = amount_of(code, bits.value);
    bits.drop(taken_by(code));
    const Entry distance = entry_in(tables_->distances, kDistanceBits);
    if (bits.count < taken_by(distance)) return stop_before(Stop::kInput);
    if ((distance & kSpecial) != 0) return stop_before(Stop::kDamage);
    match_back_ = amount_of(distance, bits.value);
    match_left_ = length;
    bits.drop(taken_by(distance));
  }
}

// Where there is plenty of room.
void Inflater::copy_fast(inflating::TokenPlace& place, Room& room) {
  constexpr std::size_t kBeyond = inflating::BlockTokens::kBeyond;
  constexpr std::ptrdiff_t kMade = Token::kMostLiterals + 1 + kLongestMatch + kCopyBeyond;
  if (room.end - room.out < kMade) return;
  char* const last = room.end - kMade;
  char* out = room.out;
  const Token* next = place.next;
  const char* literal = place.literal;
  for (; next != place.end && out <= last; ++next) {
    const std::uint32_t literals = next->literals();
    if (next->back() > static_cast<std::size_t>(out + literals - room.begin)) break;
    copy_bytes<kBeyond>(out, literal);
    for (std::uint32_t at = kBeyond; at < literals; at += kBeyond)
      copy_bytes<kBeyond>(out + at, literal + at);
    out += literals;
    literal += literals;
    if (!next->has_match()) continue;
    copy_words(out, next->back(), next->length());
    out += next->length();
  }
  room.out = out;
  place.next = next;
  place.literal = literal;
}

std::size_t Inflater::copy(inflating::TokenPlace& place, std::span<char> into, std::size_t made) {
  Room room{into.data(), into.data() + made, into.data() + into.size()};
  while (true) {
    TL_CHECK(copy_match(room));  // what it refers to is there, see may_copy()
    if (room.out == room.end) break;
    if (place.literals_left == 0 && !place.has_match) {
      copy_fast(place, room);
      if (!place.has_more()) break;
      place.begin_next();
    }
    // One token with care.
    const std::size_t literals =
        std::min(place.literals_left, static_cast<std::size_t>(room.end - room.out));
    if (literals > 0) std::memcpy(room.out, place.literal, literals);
    room.out += literals;
    place.literal += literals;
    place.literals_left -= literals;
    if (place.literals_left > 0 || !std::exchange(place.has_match, false)) continue;
    match_left_ = place.token.length();
    match_back_ = place.token.back();
  }
  return static_cast<std::size_t>(room.out - (into.data() + made));
}

}  // namespace tracelens::io
