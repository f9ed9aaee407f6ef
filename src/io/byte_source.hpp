// byte_source.hpp: one layer of a Stream: a file, a pipe, or an unpacker that reads another layer.
//   std::unique_ptr<ByteSource> in = unpack_gzip(open_file("rank0.json.gz"));
//   while (std::size_t got = in->read(block)) ...
// Internal to io/: everyone else uses io::Stream. A layer owns the layer below it.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>

namespace tracelens::io {

class TextPiece;

class ByteSource {
 public:
  ByteSource() = default;
  ByteSource(const ByteSource&) = delete;
  ByteSource& operator=(const ByteSource&) = delete;
  virtual ~ByteSource() = default;

  // The contracts of these are those of the same functions of io::Stream.
  std::string_view peek(std::size_t count);
  std::size_t read(std::span<char> into);

  // The unread text when it lies in memory; such a source never copies on peek().
  [[nodiscard]] virtual std::optional<std::string_view> memory() const { return std::nullopt; }
  // The same, and the whole of a plain file too, which is mapped for it. Then read() is
  // not to be called.
  [[nodiscard]] virtual std::optional<std::string_view> map() { return std::nullopt; }
  virtual void forget_mapped(std::size_t /*from*/, std::size_t /*to*/) {}
  // Those of a plain file; nothing and 0 of all other sources.
  [[nodiscard]] virtual std::optional<std::uint64_t> plain_size() const { return std::nullopt; }
  virtual std::size_t read_at(std::uint64_t /*byte*/, std::span<char> /*into*/) const { return 0; }
  // A descriptor that can be read at any offset and starts at byte 0, or -1. Stays owned here.
  [[nodiscard]] virtual int seekable_descriptor() const { return -1; }

  virtual void use_threads(int /*threads*/, std::size_t /*piece_bytes*/) {}
  virtual void hand_out_pieces(int /*threads*/, std::size_t /*piece_bytes*/) {}
  [[nodiscard]] virtual int helpers() const { return 0; }  // threads it wants
  [[nodiscard]] std::shared_ptr<TextPiece> next_piece();
  [[nodiscard]] virtual bool is_piece_next() const { return false; }
  [[nodiscard]] virtual std::uint64_t packed_bytes() const = 0;
  [[nodiscard]] virtual double progress() const = 0;
  // What was wrong, told by the lowest layer that noticed: a cut file, not the text cut by it.
  [[nodiscard]] virtual const std::string& damage() const = 0;

 protected:
  // Fills `into` completely unless the source ends first. Never called with an empty span.
  virtual std::size_t produce(std::span<char> into) = 0;
  // The contract is that of Stream::next_piece(), when all that was peeked at is read.
  [[nodiscard]] virtual std::shared_ptr<TextPiece> produce_piece() { return nullptr; }

 private:
  std::string peeked_;            // what peek() took from produce() ahead of read()
  std::size_t peeked_taken_ = 0;  // of which read() has given out so many bytes
};

// The error texts below name `name`, the path or title a person knows the input by.
std::unique_ptr<ByteSource> open_file(const std::string& path, const std::string& name);
std::unique_ptr<ByteSource> memory_source(std::span<const char> bytes);
std::unique_ptr<ByteSource> unpack_gzip(std::unique_ptr<ByteSource> packed);
// `label` is the word for the data in damage texts: "zstd", or "zip" inside an archive.
std::unique_ptr<ByteSource> unpack_zstd(std::unique_ptr<ByteSource> packed, std::string label);
std::unique_ptr<ByteSource> unpack_deflate(std::unique_ptr<ByteSource> packed, std::string label);
// Throws Error when the archive cannot be read or holds no trace. `remark` gets a sentence when it
// holds more than the one that is read.
std::unique_ptr<ByteSource> unpack_zip(std::unique_ptr<ByteSource> packed, const std::string& name,
                                       std::string& remark);
// The same for the member of this name.
std::unique_ptr<ByteSource> unpack_zip_member(std::unique_ptr<ByteSource> packed,
                                              const std::string& name, const std::string& member);

enum class Packing { kNone, kGzip, kZstd, kZip };
// The packing that the first kSniffBytes bytes of a source announce.
inline constexpr std::size_t kSniffBytes = 4;
Packing sniff_packing(std::string_view head);

}  // namespace tracelens::io
