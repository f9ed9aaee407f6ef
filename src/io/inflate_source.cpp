// inflate_source.cpp: gzip files of one or more members, and the bare deflate data of zip members.
#include <algorithm>
#include <cstring>

#include "io/check.hpp"
#include "io/crc.hpp"
#include "io/inflate_ahead.hpp"
#include "io/inflater.hpp"
#include "io/input_buffer.hpp"
#include "io/text_piece.hpp"
#include "io/text_sums.hpp"

namespace tracelens::io {
namespace {

constexpr std::string_view kGzipMagic{"\x1f\x8b"};

enum class Wrapper { kGzip, kNone };

std::uint32_t number_of(std::span<const char> bytes) {  // four at most
  std::uint32_t number = 0;
  std::memcpy(&number, bytes.data(), bytes.size());
  return number;
}

// Of a member whose text was not all written when its end was read.
struct LateCheck {
  TextSums* sums;
  std::uint32_t crc, text_bytes;
  std::string damage;
  [[nodiscard]] bool holds() const {
    return sums->crc() == crc && sums->text_bytes() == text_bytes;
  }
};

class InflateSource final : public Unpacker {
 public:
  InflateSource(std::unique_ptr<ByteSource> packed, std::string label, Wrapper wrapper)
      : Unpacker{std::move(packed), std::move(label)},
        wrapper_{wrapper},
        in_header_{wrapper == Wrapper::kGzip} {}

  void use_threads(int threads, std::size_t piece_bytes) override {
    const int helpers = InflateAhead::helpers_for(threads);
    if (helpers == 0 || ahead_ != nullptr || has_short_members_) return;
    input_.read_through([&](std::unique_ptr<ByteSource>& packed, std::uint64_t first_byte) {
      auto ahead =
          std::make_unique<InflateAhead>(std::move(packed), first_byte, helpers, piece_bytes);
      ahead_ = ahead.get();
      return ahead;
    });
    inflater_.stop_between_blocks();
  }

  void hand_out_pieces(int threads, std::size_t piece_bytes) override {
    const int helpers = InflateAhead::helpers_with_parts(threads);
    if (helpers == 0 || ahead_ == nullptr || wrapper_ == Wrapper::kNone) return;
    ahead_->divide_tokens(helpers, piece_bytes);
    has_parts_ = true;
  }
  [[nodiscard]] int helpers() const override { return ahead_ == nullptr ? 0 : ahead_->helpers(); }
  [[nodiscard]] bool is_piece_next() const override { return is_piece_next_; }

  [[nodiscard]] const std::string& damage() const override {
    if (late_check_ && !late_check_->holds()) late_damage_ = late_check_->damage;
    late_check_.reset();
    const std::string& known = Unpacker::damage();
    return known.empty() ? late_damage_ : known;
  }

 private:
  std::size_t produce(std::span<char> into) override {
    TL_CHECK(parts_.empty());
    is_piece_next_ = false;
    std::size_t made = 0, member = 0;  // where the member begins that is being unpacked
    while (made < into.size() && !ended_) {
      if (made > 0 && may_begin_parts(made - member)) {
        is_piece_next_ = true;
        break;
      }
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

  // Of a zip's member the checksum is the archive's.
  void add_to_sums(std::span<const char> text) {
    if (wrapper_ == Wrapper::kGzip) sums_.add(text);
  }

  // --- text that other threads write ---

  // Whether blocks that are read and divided begin here, behind what was `made`.
  bool may_begin_parts(std::size_t made) {
    if (!hands_out_ || in_header_ || ended_ || being_copied_ || !inflater_.may_copy(made))
      return false;
    return ahead_->tokens_from(place()) != nullptr && ahead_->has_parts();
  }

  std::shared_ptr<TextPiece> produce_piece() override {
    hands_out_ = has_parts_;  // whoever asks once asks always
    if (parts_.empty()) {
      is_piece_next_ = false;
      if (!may_begin_parts(0)) return nullptr;
      begin_parts();
    }
    auto piece = std::make_shared<TextPiece>(
        origin_, std::move(parts_.back()),
        parts_.size() > 1 ? TextPiece::Follows::kPiece : TextPiece::Follows::kOther);
    parts_.pop_back();
    sums_.add(piece);
    return piece;
  }

  void begin_parts() {
    inflating::TokenParts divided = ahead_->take_parts();
    const auto origin = std::make_shared<TextPiece::Origin>();
    origin->before = inflater_.window();
    divided.window_after.apply(origin->before, origin->after);
    origin->owner = ahead_->owner_of_parts();
    go_to(ahead_->end_of_tokens());
    inflater_.keep(origin->after);
    origin_ = origin;
    parts_ = std::move(divided.parts);
    std::ranges::reverse(parts_);
  }

  // The bit of all packed bytes that is to be read next.
  [[nodiscard]] std::uint64_t place() const {
    return 8 * input_.position() - inflater_.unused_bits();
  }

  // What others have read the codes of. 0: nothing.
  std::size_t copy_known(std::span<char> into, std::size_t made) {
    if (ahead_ == nullptr) return 0;
    if (!being_copied_) {
      if (!inflater_.may_copy(made)) return 0;
      const auto* tokens = ahead_->tokens_from(place());
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

  // bgzip's says that members have 64 KB at most.
  void read_extra(std::size_t bytes) {
    constexpr std::string_view kBgzip{"BC"};
    if (bytes >= kBgzip.size()) {
      const std::span<const char> kind = take(kBgzip.size());
      bytes -= kBgzip.size();
      has_short_members_ = std::string_view{kind.data(), kind.size()} == kBgzip;
    }
    skip(bytes);
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
      if (!ended_) read_extra(number_of(length));
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
    sums_.reset();
  }

  // Another member may follow; half a magic number is a member that was cut.
  void end_member() {
    if (wrapper_ == Wrapper::kNone) {
      ended_ = true;
      return;
    }
    const std::span<const char> sums = take(8);
    if (ended_) return;
    const std::uint32_t crc = number_of(sums.first(4)), text_bytes = number_of(sums.last(4));
    std::string mismatch =
        label_ + " checksum (CRC) mismatch at packed byte " + std::to_string(input_.position());
    // Others may still write: nobody waits for them at the end of the file, what follows is read if all was right.
    if (!sums_.is_known() && input_.at_least(1).empty()) {
      late_check_ = {&sums_, crc, text_bytes, std::move(mismatch)};
      ended_ = true;
      return;
    }
    if (crc != sums_.crc() || text_bytes != sums_.text_bytes())
      return end_damaged(std::move(mismatch));
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
  bool has_parts_ = false, hands_out_ = false, is_piece_next_ = false;
  bool has_short_members_ = false;           // helpers read hardly anything of such
  std::vector<inflating::TokenPart> parts_;  // that are to be handed out, the last one first
  std::shared_ptr<const TextPiece::Origin> origin_;  // of these
  Wrapper wrapper_;
  bool in_header_;
  std::size_t wanted_ = 1;  // packed bytes, to get on
  std::uint32_t header_crc_ = 0;
  TextSums sums_;
  mutable std::optional<LateCheck> late_check_;
  mutable std::string late_damage_;
};

}  // namespace

std::unique_ptr<ByteSource> unpack_gzip(std::unique_ptr<ByteSource> packed) {
  return std::make_unique<InflateSource>(std::move(packed), "gzip", Wrapper::kGzip);
}

std::unique_ptr<ByteSource> unpack_deflate(std::unique_ptr<ByteSource> packed, std::string label) {
  return std::make_unique<InflateSource>(std::move(packed), std::move(label), Wrapper::kNone);
}

}  // namespace tracelens::io
