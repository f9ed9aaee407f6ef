// inflate_source.cpp: gzip files of one or more members, and the bare deflate data of zip members.
#include <algorithm>
#include <cstring>

#include "io/crc.hpp"
#include "io/inflate_ahead.hpp"
#include "io/inflater.hpp"
#include "io/input_buffer.hpp"

namespace tracelens::io {
namespace {

constexpr std::string_view kGzipMagic{"\x1f\x8b"};

enum class Wrapper { kGzip, kNone };

std::uint32_t number_of(std::span<const char> bytes) {  // four at most
  std::uint32_t number = 0;
  std::memcpy(&number, bytes.data(), bytes.size());
  return number;
}

class InflateSource final : public Unpacker {
 public:
  InflateSource(std::unique_ptr<ByteSource> packed, std::string label, Wrapper wrapper)
      : Unpacker{std::move(packed), std::move(label)},
        wrapper_{wrapper},
        in_header_{wrapper == Wrapper::kGzip} {}

  void use_threads(int threads, std::size_t piece_bytes) override {
    const int helpers = InflateAhead::helpers_for(threads);
    if (helpers == 0 || ahead_ != nullptr) return;
    input_.read_through([&](std::unique_ptr<ByteSource>& packed, std::uint64_t first_byte) {
      auto ahead =
          std::make_unique<InflateAhead>(std::move(packed), first_byte, helpers, piece_bytes);
      ahead_ = ahead.get();
      return ahead;
    });
    inflater_.stop_between_blocks();
  }

 private:
  std::size_t produce(std::span<char> into) override {
    std::size_t made = 0, member = 0;  // where the member begins that is being unpacked
    while (made < into.size() && !ended_) {
      if (in_header_) {
        read_header();
        member = made;
      } else {
        const std::span<char> room = into.subspan(member);
        const std::size_t copied = copy_known(room, made - member);
        made += copied > 0 ? copied : inflate_some(room, made - member);
      }
    }
    inflater_.keep(into.subspan(member, made - member));
    return made;
  }

  std::size_t inflate_some(std::span<char> into, std::size_t made) {
    const std::span<const char> packed = input_.at_least(wanted_);
    const bool is_all = packed.size() < wanted_;
    const Inflater::Progress got = inflater_.run(packed, into, made);
    input_.consume(got.taken);
    add_to_sums(into.subspan(made, got.made));
    wanted_ = 1;
    switch (got.stop) {
      case Inflater::Stop::kRoom:
      case Inflater::Stop::kBlock:
        break;
      case Inflater::Stop::kInput:
        wanted_ = packed.size() - got.taken + 1;
        if (is_all) end_cut(input_.position() + wanted_ - 1);
        break;
      case Inflater::Stop::kEnd:
        end_member();
        break;
      case Inflater::Stop::kDamage:
        end_damaged_near(input_.position());
        break;
    }
    return got.made;
  }

  void add_to_sums(std::span<const char> text) {
    crc_ = crc_with(crc_, text);
    text_bytes_ += static_cast<std::uint32_t>(text.size());
  }

  // What others have read the codes of. 0: nothing.
  std::size_t copy_known(std::span<char> into, std::size_t made) {
    if (ahead_ == nullptr) return 0;
    if (!being_copied_) {
      if (!inflater_.may_copy(made)) return 0;
      const auto* tokens = ahead_->tokens_from(8 * input_.position() - inflater_.unused_bits());
      if (tokens == nullptr) return 0;
      being_copied_.emplace(*tokens);
    }
    const std::size_t copied = inflater_.copy(*being_copied_, into, made);
    add_to_sums(into.subspan(made, copied));
    if (inflater_.has_copied(*being_copied_)) {
      being_copied_.reset();
      go_to(ahead_->end_of_tokens());
    }
    return copied;
  }

  // Leaves the packed bytes before this bit: one at least, no block has less than ten bits.
  void go_to(std::uint64_t bit) {
    for (std::uint64_t left = (bit + 7) / 8 - input_.position(); left > 0;) {
      const std::span<const char> next = input_.at_least(1);
      const std::size_t count = std::min<std::uint64_t>(left, next.size());
      left -= count;
      if (left == 0) inflater_.go_on_behind(next[count - 1], (8 - bit % 8) % 8);
      input_.consume(count);
    }
    wanted_ = 1;
  }

  // --- gzip ---

  // The next bytes of a header, or of what follows the data; none: they are cut.
  [[nodiscard]] std::span<const char> take(std::size_t count) {
    const std::span<const char> next = input_.at_least(count);
    const std::span<const char> taken = next.first(std::min(count, next.size()));
    input_.consume(taken.size());
    if (taken.size() < count) end_cut(input_.position());
    header_crc_ = crc_with(header_crc_, taken);
    return taken.size() < count ? std::span<const char>{} : taken;
  }

  void skip(std::size_t count) {
    while (count > 0 && !ended_) count -= take(std::min(count, InputBuffer::kBlockBytes)).size();
  }

  void skip_text() {
    for (std::span<const char> next = take(1); !ended_ && next.front() != 0;) next = take(1);
  }

  void read_header() {
    constexpr int kHasCrc = 2, kHasExtra = 4, kHasName = 8, kHasComment = 16, kUnknown = 0xe0;
    header_crc_ = 0;
    const std::span<const char> fixed = take(10);
    if (ended_) return;
    const int flags = static_cast<unsigned char>(fixed[3]);
    constexpr char kDeflate = 8;
    if (!std::string_view{fixed.data(), fixed.size()}.starts_with(kGzipMagic) ||
        fixed[2] != kDeflate || (flags & kUnknown) != 0)
      return end_damaged_near(input_.position());
    if ((flags & kHasExtra) != 0) {
      const std::span<const char> length = take(2);
      if (!ended_) skip(number_of(length));
    }
    if ((flags & kHasName) != 0 && !ended_) skip_text();
    if ((flags & kHasComment) != 0 && !ended_) skip_text();
    if ((flags & kHasCrc) != 0 && !ended_) {
      const std::uint32_t expected = header_crc_ & 0xffff;
      const std::span<const char> crc = take(2);
      if (!ended_ && number_of(crc) != expected) return end_damaged_near(input_.position());
    }
    if (ended_) return;
    in_header_ = false;
    inflater_.reset();
    crc_ = text_bytes_ = 0;
  }

  // Another member may follow; half a magic number is a member that was cut.
  void end_member() {
    if (wrapper_ == Wrapper::kNone) {
      ended_ = true;
      return;
    }
    const std::span<const char> sums = take(8);
    if (ended_) return;
    if (number_of(sums.first(4)) != crc_ || number_of(sums.last(4)) != text_bytes_)
      return end_damaged(label_ + " checksum (CRC) mismatch at packed byte " +
                         std::to_string(input_.position()));
    ended_ = true;
    const auto next = input_.at_least(kGzipMagic.size());
    const std::string_view head{next.data(), std::min(next.size(), kGzipMagic.size())};
    if (head == kGzipMagic) {
      in_header_ = true;
      ended_ = false;
    } else if (!head.empty() && kGzipMagic.starts_with(head)) {
      end_cut(input_.position() + head.size());
    } else {
      end_with_padding();
    }
  }

  Inflater inflater_;
  InflateAhead* ahead_ = nullptr;                      // between input_ and the packed bytes
  std::optional<inflating::TokenPlace> being_copied_;  // what is being copied
  Wrapper wrapper_;
  bool in_header_;
  std::size_t wanted_ = 1;  // packed bytes, to get on
  std::uint32_t crc_ = 0, text_bytes_ = 0, header_crc_ = 0;
};

}  // namespace

std::unique_ptr<ByteSource> unpack_gzip(std::unique_ptr<ByteSource> packed) {
  return std::make_unique<InflateSource>(std::move(packed), "gzip", Wrapper::kGzip);
}

std::unique_ptr<ByteSource> unpack_deflate(std::unique_ptr<ByteSource> packed, std::string label) {
  return std::make_unique<InflateSource>(std::move(packed), std::move(label), Wrapper::kNone);
}

}  // namespace tracelens::io
