// stream.hpp: the bytes of a trace file, unpacked. Sniffs gzip, zip and zstd by content.
//   io::Stream in = io::Stream::open("rank0.json.gz");        // "-" reads standard input
//   while (std::size_t got = in.read(block)) parse({block.data(), got});
// Packings may be nested (a zip that holds a .json.gz). Single-threaded: one caller at a time.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>

namespace tracelens::io {

class TextPiece;

class Stream {
 public:
  // Throws Error when the file cannot be opened, is a directory, is a zip that is cut (its
  // directory stands at the end) or holds no trace, or is packed more than three times.
  // Of a zip's members the first *.json is read, else the first *.json.gz, else the only one; a
  // path that goes on inside the archive ("run.zip/rank0.json") names the member.
  static Stream open(const std::string& path);
  // The same sniffing over bytes in memory (tests, fuzzing); `bytes` must outlive the Stream.
  static Stream over(std::string name, std::span<const char> bytes);

  // The same for bytes that a function hands out: it fills its argument from the start, not
  // necessarily to the end, and says how much; 0: the end.
  static Stream pulling(std::string name, std::function<std::size_t(std::span<char>)> read);

  Stream(Stream&&) noexcept;
  Stream& operator=(Stream&&) noexcept;
  ~Stream();

  // Whoever reads does so for so many threads: others may unpack what is large, piece by piece of the packed bytes. The
  // text is the same.
  void use_threads(int threads, std::size_t packed_piece_bytes = std::size_t{256} << 10);
  // Of so many threads those that are left to work on the text, beside the ones that unpack: at least one. After
  // use_threads() and hand_out_pieces().
  [[nodiscard]] int threads_left_of(int threads) const;
  // Whoever has that many threads may let each of them write its part of the text, of about so many bytes: next_piece()
  // gives the next one if it can be written so; null: read() goes on, once that was asked up to where is_piece_next().
  // Pieces may outlive the stream. After read() or peek() gave less than asked, a piece may be next.
  void hand_out_pieces(int threads, std::size_t piece_bytes);
  [[nodiscard]] std::shared_ptr<TextPiece> next_piece();
  [[nodiscard]] bool is_piece_next() const;
  // The next bytes without consuming them: `count` of them, or fewer at the end of the stream.
  std::string_view peek(std::size_t count);
  // Fills `into` completely unless the stream ends first; 0 means the end.
  // A packed file that is cut or damaged, and a file that is shortened meanwhile, gives every byte
  // before the damage, then the end; damage() then says what was wrong. Throws Error when the operating system cannot read on.
  std::size_t read(std::span<char> into);
  // The whole text without a copy, in place of read(): of plain bytes, and of a plain file, which is
  // mapped where guard_mapped_files() was called. Nothing: it has to be read.
  [[nodiscard]] std::optional<std::string_view> map();
  // The size of a plain file whose parts read_at() gives; nothing of anything else.
  [[nodiscard]] std::optional<std::uint64_t> plain_size() const;
  // Fills `into` from this byte of a plain file on, whatever read() has given out. Several threads may
  // ask at once. Fewer bytes only where the file ends, which is damage before its plain_size().
  std::size_t read_at(std::uint64_t byte, std::span<char> into) const;
  // Tells that a part of the mapped text is not needed for now: its pages can go, and are read from
  // the file once more when it is looked at again.
  void forget_mapped(std::size_t from, std::size_t to);

  [[nodiscard]] const std::string& name() const;
  [[nodiscard]] const std::string& packing() const;  // "", "gzip", "zstd", "zip", "zip+gzip"
  [[nodiscard]] std::uint64_t packed_bytes() const;  // size as stored; what was read for a pipe
  [[nodiscard]] double progress() const;             // 0..1 of the stored bytes; 0 when unknown
  [[nodiscard]] const std::string& damage() const;   // "" when all was sound so far
  [[nodiscard]] const std::string& remark() const;   // what a zip held besides, if traces; else ""

 private:
  struct State;
  explicit Stream(std::unique_ptr<State> state);
  std::unique_ptr<State> state_;
};

}  // namespace tracelens::io
