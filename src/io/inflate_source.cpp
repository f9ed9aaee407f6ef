// inflate_source.cpp: gzip files of one or more members, and the bare deflate data of zip members.
// ISA-L inflates straight into the caller's memory when that is larger than its 64 KiB window.
#include <isa-l/igzip_lib.h>

#include <algorithm>
#include <cstring>

#include "io/input_buffer.hpp"

namespace tracelens::io {
namespace {

constexpr std::string_view kGzipMagic{"\x1f\x8b"};

enum class Wrapper { kGzip, kNone };

class InflateSource final : public Unpacker {
 public:
  InflateSource(std::unique_ptr<ByteSource> packed, std::string label, Wrapper wrapper)
      : Unpacker{std::move(packed), std::move(label)}, wrapper_{wrapper} {
    isal_inflate_init(&inflate_);
    inflate_.crc_flag = wrapper == Wrapper::kGzip ? ISAL_GZIP_NO_HDR_VER : ISAL_DEFLATE;
    in_header_ = wrapper == Wrapper::kGzip;
    isal_gzip_header_init(&header_);
  }

 private:
  std::size_t produce(std::span<char> into) override {
    std::size_t produced = drain(into);
    while (produced < into.size() && !ended_) {
      if (in_header_) {
        read_header();
      } else {
        produced += inflate_some(into.subspan(produced));
      }
    }
    return produced;
  }

  // ISA-L keeps the state of a header that is split over two blocks in `header_` and `inflate_`.
  void read_header() {
    const auto before = offer_input();
    const int status = isal_read_gzip_header(&inflate_, &header_);
    take_input(before);
    if (status == ISAL_DECOMP_OK) {
      in_header_ = false;
    } else if (status != ISAL_END_INPUT) {
      end_damaged_near(input_.position());
    } else if (before == 0) {
      end_cut(input_.position());
    }
  }

  std::size_t inflate_some(std::span<char> into) {
    const auto offered_in = offer_input();
    const auto offered_out =
        static_cast<std::uint32_t>(std::min<std::size_t>(into.size(), 1 << 30));
    inflate_.next_out = reinterpret_cast<std::uint8_t*>(into.data());
    inflate_.avail_out = offered_out;
    const int status = isal_inflate(&inflate_);
    const bool stuck = inflate_.avail_in == offered_in && inflate_.avail_out == offered_out;
    take_input(offered_in);
    std::size_t produced = offered_out - inflate_.avail_out;

    if (status == ISAL_INCORRECT_CHECKSUM) {
      end_damaged(label_ + " checksum (CRC) mismatch at packed byte " +
                  std::to_string(input_.position()));
    } else if (status < 0 || status == ISAL_NEED_DICT) {
      end_damaged_near(input_.position());
      produced += drain(into.subspan(produced));
    } else if (inflate_.block_state == ISAL_BLOCK_FINISH) {
      end_member();
    } else if (stuck && offered_in == 0) {
      end_cut(input_.position());
    } else if (stuck) {
      end_damaged_near(input_.position());
    }
    return produced;
  }

  // Another member may follow; half a magic number is a member that was cut.
  void end_member() {
    ended_ = true;
    if (wrapper_ == Wrapper::kNone) return;
    const auto next = input_.at_least(kGzipMagic.size());
    const std::string_view head{next.data(), std::min(next.size(), kGzipMagic.size())};
    if (head == kGzipMagic) {
      isal_inflate_reset(&inflate_);
      isal_gzip_header_init(&header_);
      in_header_ = true;
      ended_ = false;
    } else if (!head.empty() && kGzipMagic.starts_with(head)) {
      end_cut(input_.position() + head.size());
    } else {
      end_with_padding();
    }
  }

  // After damage ISA-L may still hold sound text that did not fit into the caller's memory.
  std::size_t drain(std::span<char> into) {
    if (damage_.empty()) return 0;
    const auto held = inflate_.tmp_out_valid - inflate_.tmp_out_processed;
    if (held <= 0) return 0;
    const auto count = std::min(into.size(), static_cast<std::size_t>(held));
    std::memcpy(into.data(), inflate_.tmp_out_buffer + inflate_.tmp_out_processed, count);
    inflate_.tmp_out_processed += static_cast<std::int32_t>(count);
    return count;
  }

  std::uint32_t offer_input() {
    const auto unread = input_.at_least(1);
    inflate_.next_in = reinterpret_cast<std::uint8_t*>(unread.data());
    inflate_.avail_in = static_cast<std::uint32_t>(unread.size());
    return inflate_.avail_in;
  }
  void take_input(std::uint32_t offered) { input_.consume(offered - inflate_.avail_in); }

  inflate_state inflate_{};
  isal_gzip_header header_{};
  Wrapper wrapper_;
  bool in_header_ = false;
};

}  // namespace

std::unique_ptr<ByteSource> unpack_gzip(std::unique_ptr<ByteSource> packed) {
  return std::make_unique<InflateSource>(std::move(packed), "gzip", Wrapper::kGzip);
}

std::unique_ptr<ByteSource> unpack_deflate(std::unique_ptr<ByteSource> packed, std::string label) {
  return std::make_unique<InflateSource>(std::move(packed), std::move(label), Wrapper::kNone);
}

}  // namespace tracelens::io
