// zstd_source.cpp: zstd data of one or more frames, skippable frames included.
#include <zstd.h>
#include <zstd_errors.h>

#include <algorithm>
#include <new>
#include <utility>

#include "io/input_buffer.hpp"

namespace tracelens::io {
namespace {

constexpr std::size_t kBlockHeaderBytes = 3;
constexpr std::size_t kMagicBytes = 4;

// The start of a frame, or of a skippable one, that was cut inside its first bytes.
bool is_half_magic(std::string_view head) {
  if (head.empty() || head.size() >= kMagicBytes) return false;
  return std::string_view{"\x28\xb5\x2f\xfd"}.starts_with(head) ||
         ((head[0] & 0xf0) == 0x50 && std::string_view{"\x2a\x4d\x18"}.starts_with(head.substr(1)));
}

struct FreeDecoder {
  void operator()(ZSTD_DCtx* decoder) const { ZSTD_freeDCtx(decoder); }
};

class ZstdSource final : public Unpacker {
 public:
  ZstdSource(std::unique_ptr<ByteSource> packed, std::string label)
      : Unpacker{std::move(packed), std::move(label)}, decoder_{ZSTD_createDCtx()} {
    if (!decoder_) throw std::bad_alloc{};
  }

 private:
  std::size_t produce(std::span<char> into) override {
    ZSTD_outBuffer out{into.data(), into.size(), 0};
    while (out.pos < out.size && !ended_) {
      if (wanted_ == 0 && !next_frame()) break;
      decode_some(out);
    }
    return out.pos;
  }

  // At most one block per call: a call that fails forgets what it wrote before the error, so a
  // sound block must not share a call with the header after it, which may be damaged. For the
  // same reason text that did not fit into the last call's memory is fetched before more input.
  void decode_some(ZSTD_outBuffer& out) {
    std::size_t step = wanted_ > kBlockHeaderBytes ? wanted_ - kBlockHeaderBytes : wanted_;
    if (std::exchange(was_full_, false)) step = 0;
    const auto unread = input_.at_least(1);
    ZSTD_inBuffer in{unread.data(), std::min(unread.size(), step), 0};
    const std::size_t out_before = out.pos;
    const std::size_t status = ZSTD_decompressStream(decoder_.get(), &out, &in);
    if (ZSTD_getErrorCode(status) == ZSTD_error_memory_allocation) throw std::bad_alloc{};
    if (ZSTD_isError(status)) {
      end_damaged_near(input_.position());
      damage_ += std::string{": "} + ZSTD_getErrorName(status);
      return;
    }
    input_.consume(in.pos);
    was_full_ = out.pos == out.size;
    wanted_ = status;  // 0 at the end of a frame, else how much input the decoder hopes for
    if (wanted_ != 0 && unread.empty() && out.pos == out_before) end_cut(input_.position());
  }

  bool next_frame() {
    const auto next = input_.at_least(kMagicBytes);
    const std::string_view head{next.data(), next.size()};
    const bool frame = sniff_packing(head) == Packing::kZstd;
    ended_ = !frame;
    if (frame) {
      wanted_ = kMagicBytes;
    } else if (is_half_magic(head)) {
      end_cut(input_.position() + head.size());
    } else {
      end_with_padding();
    }
    return frame;
  }

  std::unique_ptr<ZSTD_DCtx, FreeDecoder> decoder_;
  std::size_t wanted_ = 0;
  bool was_full_ = false;
};

}  // namespace

std::unique_ptr<ByteSource> unpack_zstd(std::unique_ptr<ByteSource> packed, std::string label) {
  return std::make_unique<ZstdSource>(std::move(packed), std::move(label));
}

}  // namespace tracelens::io
