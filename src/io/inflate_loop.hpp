// inflate_loop.hpp: the loop that reads codes of deflate data, whatever is done with what they stand for.
//   struct Sink {
//     bool has_room() const;                             // for four literals, or three and a match
//     void literal(char c);
//     bool takes(std::uint32_t back) const;              // a match from so many bytes ago
//     void match(std::uint32_t length, std::uint32_t back);
//   };
//   decode_codes(bits, tables, sink);
#pragma once

#include <cstddef>
#include <cstdint>

#include "io/inflate_bits.hpp"
#include "io/inflate_codes.hpp"

namespace tracelens::io::inflating {

// Where there is plenty of both, packed bytes and room. Ends before what is rare, too, with nothing taken of it:
// the end of the block, what is no code, what the sink does not take.
template <class Sink>
[[gnu::always_inline]] inline void decode_codes(Bits& of_caller, const Tables& tables,
                                                Sink& sink_of_caller) {
  constexpr std::ptrdiff_t kInput = 24;  // three times fill_fast()
  if (of_caller.end - of_caller.next < kInput) return;
  constexpr std::uint64_t kLiteralMask = (1U << kLiteralBits) - 1,
                          kDistanceMask = (1U << kDistanceBits) - 1;
  const char* const last_input = of_caller.end - kInput;
  const Entry* const literals = tables.literals.data();
  const Entry* const distances = tables.distances.data();
  Bits bits{of_caller.value, of_caller.count, of_caller.next, of_caller.end};
  Sink sink = sink_of_caller;  // copies of both, which the compiler keeps in registers
  bits.fill_fast();
  Entry entry = literals[bits.value & kLiteralMask];
  while (bits.next <= last_input && sink.has_room()) {
    // Three literals leave 23 of 56 bits, enough for any length.
    for (int i = 0; i < 3 && (entry & kLiteral) != 0; ++i) {
      bits.drop(taken_by(entry));
      sink.literal(static_cast<char>(value_of(entry)));
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
        sink.literal(static_cast<char>(value_of(entry)));
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
    if (!sink.takes(back)) {
      go_back();
      break;
    }
    bits.drop(taken_by(entry));
    bits.fill_fast();
    entry = literals[bits.value & kLiteralMask];  // on its way while the sink works
    sink.match(length, back);
  }
  of_caller.value = bits.value;
  of_caller.count = bits.count;
  of_caller.next = bits.next;
  sink_of_caller = sink;
}

#ifdef __x86_64__
// Shifts by any number of bits are one instruction there, and make up much of the loop.
template <class Sink>
[[gnu::target("bmi2")]] void decode_codes_with_bmi2(Bits& bits, const Tables& tables, Sink& sink) {
  decode_codes(bits, tables, sink);
}
#endif

template <class Sink>
void decode_codes_fast(Bits& bits, const Tables& tables, Sink& sink) {
#ifdef __x86_64__
  if (__builtin_cpu_supports("bmi2")) return decode_codes_with_bmi2(bits, tables, sink);
#endif
  decode_codes(bits, tables, sink);
}

}  // namespace tracelens::io::inflating
