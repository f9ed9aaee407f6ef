#include "readers/perfetto/unpack.hpp"

#include <zlib.h>
#include <zstd.h>
#include <zstd_errors.h>

#include <algorithm>
#include <memory>

namespace tracelens::perfetto {
namespace {

constexpr std::size_t kFirstRoom = std::size_t{64} << 10;

// Makes room behind `used` bytes; false when the text is as long as it may get.
bool grow(std::string& text, std::size_t used) {
  if (used < text.size()) return true;
  if (text.size() >= kLongestUnpacked) return false;
  text.resize(std::clamp(text.size() * 2, kFirstRoom, kLongestUnpacked));
  return true;
}

}  // namespace

std::optional<std::string> inflate_packets(std::string_view packed) {
  z_stream stream{};
  if (inflateInit(&stream) != Z_OK) throw std::bad_alloc{};
  const std::unique_ptr<z_stream, int (*)(z_stream*)> closer{&stream, inflateEnd};
  stream.next_in = reinterpret_cast<Bytef*>(const_cast<char*>(packed.data()));
  stream.avail_in = static_cast<uInt>(packed.size());  // a packet is at most kLongestPacket long
  std::string text;
  std::size_t used = 0;
  int status = Z_OK;
  while (status == Z_OK) {
    if (!grow(text, used)) return std::nullopt;
    stream.next_out = reinterpret_cast<Bytef*>(text.data() + used);
    stream.avail_out = static_cast<uInt>(text.size() - used);
    status = inflate(&stream, Z_NO_FLUSH);
    if (status == Z_MEM_ERROR) throw std::bad_alloc{};
    used = text.size() - stream.avail_out;
  }
  if (status != Z_STREAM_END) return std::nullopt;
  text.erase(used);
  return text;
}

std::optional<std::string> unpack_zstd_packets(std::string_view packed) {
  const std::unique_ptr<ZSTD_DStream, std::size_t (*)(ZSTD_DStream*)> stream{ZSTD_createDStream(),
                                                                             ZSTD_freeDStream};
  if (stream == nullptr) throw std::bad_alloc{};
  ZSTD_inBuffer in{packed.data(), packed.size(), 0};
  std::string text;
  std::size_t used = 0, pending = 1;
  while (pending != 0) {
    if (!grow(text, used)) return std::nullopt;
    ZSTD_outBuffer out{text.data(), text.size(), used};
    const std::size_t consumed = in.pos;
    pending = ZSTD_decompressStream(stream.get(), &out, &in);
    if (ZSTD_getErrorCode(pending) == ZSTD_error_memory_allocation) throw std::bad_alloc{};
    if (ZSTD_isError(pending) != 0) return std::nullopt;
    if (out.pos == used && in.pos == consumed) return std::nullopt;  // the data end too early
    used = out.pos;
  }
  text.erase(used);
  return text;
}

}  // namespace tracelens::perfetto
