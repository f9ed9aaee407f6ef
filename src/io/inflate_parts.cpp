#include "io/inflate_parts.hpp"

#include <algorithm>
#include <cstring>
#include <utility>

namespace tracelens::io::inflating {
namespace {

// Follows tokens like one who writes their text, but writes where each byte comes from, and keeps only what later
// ones may refer to.
class OriginWriter {
 public:
  OriginWriter() : origins_{std::make_unique_for_overwrite<std::uint16_t[]>(kRoom + kBeyond)} {
    for (std::size_t i = 0; i < kWindow; ++i)
      origins_[i] = static_cast<std::uint16_t>(WindowMap::kFirstPlace + i);
  }

  void literals(std::span<const char> bytes) {
    while (!bytes.empty()) {
      make_room(1);
      const std::size_t count = std::min(bytes.size(), kRoom - end_);
      for (std::size_t i = 0; i < count; ++i)
        origins_[end_ + i] = static_cast<unsigned char>(bytes[i]);
      end_ += count;
      bytes = bytes.subspan(count);
    }
  }
  void match(std::size_t length, std::size_t back) {
    make_room(length);
    std::uint16_t* out = &origins_[end_];
    const std::uint16_t* from = out - back;
    if (back >= kStep) {
      for (std::size_t i = 0; i < length; i += kStep)
        std::memcpy(out + i, from + i, kStep * sizeof *out);
    } else {
      for (std::size_t i = 0; i < length; ++i) out[i] = from[i];
    }
    end_ += length;
  }
  [[nodiscard]] std::span<const std::uint16_t, kWindow> window() const {
    return std::span<const std::uint16_t, kWindow>{&origins_[end_ - kWindow], kWindow};
  }

 private:
  static constexpr std::size_t kRoom = 3 * kWindow;
  static constexpr std::size_t kStep = 16,
                               kBeyond = kStep;  // a match may write so much behind its end

  void make_room(std::size_t count) {
    if (end_ + count <= kRoom) return;
    std::memmove(origins_.get(), &origins_[end_ - kWindow], kWindow * sizeof origins_[0]);
    end_ = kWindow;
  }

  std::unique_ptr<std::uint16_t[]> origins_;
  std::size_t end_ = kWindow;
};

}  // namespace

WindowMap::WindowMap(std::span<const std::uint16_t, kWindow> origins) {
  for (std::size_t begin = 0, end = 0; begin < kWindow; begin = end) {
    const std::uint16_t first = origins[begin];
    const bool is_known = first < kFirstPlace;
    const auto goes_on = [&] {
      return is_known ? origins[end] < kFirstPlace : origins[end] == first + (end - begin);
    };
    do {
      if (is_known) known_.push_back(static_cast<char>(origins[end]));
      ++end;
    } while (end < kWindow && goes_on());
    runs_.push_back(
        {.bytes = static_cast<std::uint16_t>(end - begin),
         .place = static_cast<std::uint16_t>(is_known ? kWindow : first - kFirstPlace)});
  }
}

void WindowMap::apply(const Window& before, Window& after) const {
  char* out = after.data();
  const char* known = known_.data();
  for (const Run& run : runs_) {
    const bool is_known = run.place == kWindow;
    std::memcpy(out, is_known ? known : before.data() + run.place, run.bytes);
    if (is_known) known += run.bytes;
    out += run.bytes;
  }
}

TokenParts divide(const BlockTokens& tokens, std::size_t part_bytes) {
  TokenParts divided;
  OriginWriter origins;
  TokenPlace place{tokens};
  while (place.has_more()) {
    TokenPart part{.place = place, .text_bytes = 0, .window_before = WindowMap{origins.window()}};
    while (place.has_more() && part.text_bytes < part_bytes) {
      place.begin_next();
      const std::size_t literals = std::exchange(place.literals_left, 0);
      origins.literals({place.literal, literals});
      place.literal += literals;
      part.text_bytes += literals;
      if (!std::exchange(place.has_match, false)) continue;
      origins.match(place.token.length(), place.token.back());
      part.text_bytes += place.token.length();
    }
    part.place.end = place.next;
    part.place.literals_end = place.literal;
    divided.parts.push_back(std::move(part));
  }
  divided.window_after = WindowMap{origins.window()};
  return divided;
}

}  // namespace tracelens::io::inflating
