#include "io/inflater.hpp"

#include <algorithm>
#include <bit>
#include <cstring>

namespace tracelens::io {
namespace {

static_assert(std::endian::native == std::endian::little, "bits come in words of the memory");

using inflating::amount_of, inflating::Entry, inflating::is_end, inflating::is_second,
    inflating::second_place, inflating::taken_by, inflating::value_of;
using inflating::kDistanceBits, inflating::kLiteral, inflating::kLiteralBits,
    inflating::kLongestCode, inflating::kMoreBits, inflating::kSpecial;

std::uint64_t word_at(const char* at) {
  std::uint64_t word;
  std::memcpy(&word, at, sizeof word);
  return word;
}
void put_word(char* at, std::uint64_t word) { std::memcpy(at, &word, sizeof word); }

constexpr std::size_t kCopyBeyond = 32;  // copy_words() may write so much behind its end

// `length` bytes from `back` bytes ago, which may be bytes that are written here.
void copy_words(char* out, std::uint32_t back, std::uint32_t length) {
  const char* from = out - back;
  char* const end = out + length;
  if (back >= 32) {
    do {
      std::array<std::uint64_t, 4> words;
      std::memcpy(words.data(), from, sizeof words);
      std::memcpy(out, words.data(), sizeof words);
      from += sizeof words;
      out += sizeof words;
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

struct Inflater::Bits {
  std::uint64_t
      value;  // the next bits, the first of them lowest; above `count` anything that follows
  unsigned count;
  const char *next, *end;

  void drop(unsigned bits) {
    value >>= bits;
    count -= bits;
  }
  // At least 56 bits; eight bytes must be there.
  void fill_fast() {
    value |= word_at(next) << count;
    next += (63 - count) >> 3;
    count |= 56;
  }
  // As many as there are.
  void fill() {
    if (end - next >= 8) return fill_fast();
    for (; count < 56 && next < end; count += 8)
      value |= std::uint64_t{static_cast<std::uint8_t>(*next++)} << count;
  }
  bool has(unsigned bits) {
    if (count < bits) fill();
    return count >= bits;
  }
  unsigned take(unsigned bits) {  // that are there
    const auto taken = static_cast<unsigned>(value & ((std::uint64_t{1} << bits) - 1));
    drop(bits);
    return taken;
  }
  // Whole bytes go back.
  void return_bytes() {
    next -= count / 8;
    count %= 8;
    value &= (std::uint64_t{1} << count) - 1;
  }
  // The rest of a byte is of no use.
  void skip_to_byte() {
    return_bytes();
    value = count = 0;
  }
};

struct Inflater::Room {
  char *begin, *out, *end;
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
  }
}

// kEnd: of the header.
Inflater::Stop Inflater::begin_block(Bits& bits) {
  if (!bits.has(3)) return Stop::kInput;
  const bool is_last = bits.take(1) != 0;
  switch (bits.take(2)) {
    case 0: {
      bits.skip_to_byte();
      if (!bits.has(32)) return Stop::kInput;
      stored_left_ = bits.take(16);
      if ((bits.take(16) ^ stored_left_) != 0xffff) return Stop::kDamage;
      bits.return_bytes();
      inside_ = Inside::kStored;
      break;
    }
    case 1:
      tables_ = &inflating::fixed_tables();
      inside_ = Inside::kCodes;
      break;
    case 2:
      if (const Stop stop = read_code_lengths(bits); stop != Stop::kEnd) return stop;
      tables_ = &own_tables_;
      inside_ = Inside::kCodes;
      break;
    default:
      return Stop::kDamage;
  }
  is_last_ = is_last;
  return Stop::kEnd;
}

Inflater::Stop Inflater::read_code_lengths(Bits& bits) {
  constexpr unsigned kBits = 7;
  constexpr std::array<std::uint8_t, 19> kOrder = {16, 17, 18, 0, 8,  7, 9,  6, 10, 5,
                                                   11, 4,  12, 3, 13, 2, 14, 1, 15};
  static constexpr auto kSymbols = [] {
    std::array<Entry, 19> symbols{};
    for (std::size_t i = 0; i < symbols.size(); ++i) symbols[i] = static_cast<Entry>(i) << 16;
    return symbols;
  }();
  if (!bits.has(14)) return Stop::kInput;
  const std::size_t literals = bits.take(5) + 257, distances = bits.take(5) + 1;
  const std::size_t given = bits.take(4) + 4;
  if (literals > 286 || distances > 30) return Stop::kDamage;
  std::array<std::uint8_t, 19> of_lengths{};
  for (std::size_t i = 0; i < given; ++i) {
    if (!bits.has(3)) return Stop::kInput;
    of_lengths[kOrder[i]] = static_cast<std::uint8_t>(bits.take(3));
  }
  std::array<Entry, 1U << kBits> table;
  const auto used = std::ranges::count_if(of_lengths, [](unsigned length) { return length > 0; });
  if (used < 2 || !inflating::make_table(of_lengths, kSymbols, kBits, table)) return Stop::kDamage;

  std::array<std::uint8_t, inflating::kLiteralCodes + inflating::kDistanceCodes> lengths{};
  for (std::size_t i = 0; i < literals + distances;) {
    bits.fill();
    const Entry entry = table[bits.value & ((1U << kBits) - 1)];
    const std::uint32_t symbol = value_of(entry);
    const unsigned extra = symbol < 16 ? 0 : symbol == 16 ? 2 : symbol == 17 ? 3 : 7;
    if (bits.count < taken_by(entry) + extra) return Stop::kInput;
    bits.drop(taken_by(entry));
    if (symbol < 16) {
      lengths[i++] = static_cast<std::uint8_t>(symbol);
      continue;
    }
    if (symbol == 16 && i == 0) return Stop::kDamage;
    const std::size_t times = bits.take(extra) + (symbol == 18 ? 11 : 3);
    if (i + times > literals + distances) return Stop::kDamage;
    std::fill_n(lengths.begin() + static_cast<std::ptrdiff_t>(i), times,
                symbol == 16 ? lengths[i - 1] : std::uint8_t{0});
    i += times;
  }
  if (lengths[inflating::kEndOfBlock] == 0) return Stop::kDamage;
  const std::span<const std::uint8_t> all{lengths};
  const bool is_sound =
      inflating::make_tables(all.first(literals), all.subspan(literals, distances), own_tables_);
  return is_sound ? Stop::kEnd : Stop::kDamage;
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

// Where there is plenty of both, packed bytes and room. Ends before what is rare, too, with nothing taken of it.
[[gnu::always_inline]] inline void Inflater::decode_most(Bits& of_caller, Room& room) const {
  constexpr std::ptrdiff_t kInput = 24;  // three times fill_fast()
  constexpr std::ptrdiff_t kMade = 3 + 258 + kCopyBeyond;
  if (of_caller.end - of_caller.next < kInput || room.end - room.out < kMade) return;
  constexpr std::uint64_t kLiteralMask = (1U << kLiteralBits) - 1,
                          kDistanceMask = (1U << kDistanceBits) - 1;
  const char* const last_input = of_caller.end - kInput;
  char* const last_room = room.end - kMade;
  const Entry* const literals = tables_->literals.data();
  const Entry* const distances = tables_->distances.data();
  Bits bits{of_caller.value, of_caller.count, of_caller.next, of_caller.end};
  char* out = room.out;
  bits.fill_fast();
  Entry entry = literals[bits.value & kLiteralMask];
  while (bits.next <= last_input && out <= last_room) {
    // Three literals leave 23 of 56 bits, enough for any length.
    for (int i = 0; i < 3 && (entry & kLiteral) != 0; ++i) {
      bits.drop(taken_by(entry));
      *out++ = static_cast<char>(value_of(entry));
      entry = literals[bits.value & kLiteralMask];
    }
    if ((entry & kLiteral) != 0) {
      bits.fill_fast();
      continue;
    }
    // One by one: a copy of the whole would keep all of it in memory.
    const std::uint64_t value_before = bits.value;
    const unsigned count_before = bits.count;
    const char* const next_before = bits.next;
    const auto go_back = [&] {
      bits.value = value_before;
      bits.count = count_before;
      bits.next = next_before;
    };
    if ((entry & kSpecial) != 0) {
      if (!is_second(entry)) break;
      bits.drop(kLiteralBits);
      entry = literals[second_place(entry, bits.value)];
      if ((entry & kLiteral) != 0) {
        bits.drop(taken_by(entry));
        *out++ = static_cast<char>(value_of(entry));
        bits.fill_fast();
        entry = literals[bits.value & kLiteralMask];
        continue;
      }
      if ((entry & kSpecial) != 0) {
        go_back();
        break;
      }
    }
    const std::uint32_t length = amount_of(entry, bits.value);
    bits.drop(taken_by(entry));
    if (bits.count < kLongestCode + 13) bits.fill_fast();
    entry = distances[bits.value & kDistanceMask];
    if ((entry & kSpecial) != 0) {
      if (is_second(entry)) {
        bits.drop(kDistanceBits);
        entry = distances[second_place(entry, bits.value)];
      }
      if ((entry & kSpecial) != 0) {
        go_back();
        break;
      }
    }
    const std::uint32_t back = amount_of(entry, bits.value);
    if (back > static_cast<std::size_t>(out - room.begin)) {
      go_back();
      break;
    }
    bits.drop(taken_by(entry));
    bits.fill_fast();
    entry = literals[bits.value & kLiteralMask];  // on its way while bytes are copied
    copy_words(out, back, length);
    out += length;
  }
  of_caller.value = bits.value;
  of_caller.count = bits.count;
  of_caller.next = bits.next;
  room.out = out;
}

#ifdef __x86_64__
// Shifts by any number of bits are one instruction there, and make up much of the loop.
[[gnu::target("bmi2")]] void Inflater::decode_with_bmi2(Bits& bits, Room& room) const {
  decode_most(bits, room);
}
#endif

void Inflater::decode_fast(Bits& bits, Room& room) const {
#ifdef __x86_64__
  if (__builtin_cpu_supports("bmi2")) return decode_with_bmi2(bits, room);
#endif
  decode_most(bits, room);
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

}  // namespace tracelens::io
