#include "io/stream.hpp"

#include <sys/stat.h>

#include <algorithm>
#include <cerrno>
#include <tracelens/error.hpp>
#include <tracelens/files.hpp>
#include <utility>

#include "io/byte_source.hpp"
#include "io/text_piece.hpp"

namespace tracelens::io {

struct Stream::State {
  std::string name;
  std::string packing;
  std::string remark;
  std::unique_ptr<ByteSource> top;
};

namespace {

constexpr int kMaxPackings = 3;

const char* name_of(Packing packing) {
  switch (packing) {
    case Packing::kGzip:
      return "gzip";
    case Packing::kZstd:
      return "zstd";
    case Packing::kZip:
      return "zip";
    case Packing::kNone:
      break;
  }
  return "";
}

std::unique_ptr<ByteSource> unpack(Packing packing, std::unique_ptr<ByteSource> packed,
                                   const std::string& name, std::string& remark) {
  switch (packing) {
    case Packing::kGzip:
      return unpack_gzip(std::move(packed));
    case Packing::kZstd:
      return unpack_zstd(std::move(packed), "zstd");
    case Packing::kZip:
      return unpack_zip(std::move(packed), name, remark);
    case Packing::kNone:
      break;
  }
  return packed;
}

// Puts unpackers on top of `top` until the bytes no longer look packed; returns "zip+gzip" or so.
std::string unpack_all(std::unique_ptr<ByteSource>& top, const std::string& name,
                       std::string& remark) {
  std::string packings;
  for (int depth = 0;; ++depth) {
    const Packing packing = sniff_packing(top->peek(kSniffBytes));
    if (packing == Packing::kNone) return packings;
    if (depth == kMaxPackings)
      throw Error{name, "packed more than " + std::to_string(kMaxPackings) + " times (" + packings +
                            "+" + name_of(packing) + ")"};
    if (depth > 0) packings += '+';
    packings += name_of(packing);
    top = unpack(packing, std::move(top), name, remark);
  }
}

class PulledSource final : public ByteSource {
 public:
  explicit PulledSource(std::function<std::size_t(std::span<char>)> read)
      : read_{std::move(read)} {}
  [[nodiscard]] std::uint64_t packed_bytes() const override { return bytes_; }
  [[nodiscard]] double progress() const override { return 0; }
  [[nodiscard]] const std::string& damage() const override { return damage_; }

 private:
  std::size_t produce(std::span<char> into) override {
    std::size_t done = 0;
    while (done < into.size()) {
      const std::size_t got = read_(into.subspan(done));
      if (got == 0) break;
      done += got;
    }
    bytes_ += done;
    return done;
  }

  std::function<std::size_t(std::span<char>)> read_;
  std::uint64_t bytes_ = 0;
  std::string damage_;
};

// The zip archive in "run.zip/rank0.json"; nothing when the path is that of a file or of nothing.
std::optional<std::string> archive_of(const std::string& path) {
  struct stat info {};
  if (::stat(path.c_str(), &info) == 0 || errno != ENOTDIR) return std::nullopt;
  for (std::size_t slash = path.rfind('/'); slash != std::string::npos && slash > 0;
       slash = path.rfind('/', slash - 1)) {
    std::string folder = path.substr(0, slash);
    if (::stat(folder.c_str(), &info) == 0) {
      if (!S_ISREG(info.st_mode)) return std::nullopt;
      return folder;
    }
  }
  return std::nullopt;
}

}  // namespace

Stream::Stream(std::unique_ptr<State> state) : state_{std::move(state)} {
  const std::string packings = unpack_all(state_->top, state_->name, state_->remark);
  if (!state_->packing.empty() && !packings.empty()) state_->packing += '+';
  state_->packing += packings;
}

Stream Stream::open(const std::string& path) {
  const std::string name = path == "-" ? std::string{kStandardInput} : path;
  if (const auto archive = archive_of(path)) {
    const std::string member = path.substr(archive->size() + 1);
    return Stream{std::make_unique<State>(
        State{name, "zip", "", unpack_zip_member(open_file(*archive, name), name, member)})};
  }
  return Stream{std::make_unique<State>(State{name, "", "", open_file(path, name)})};
}

Stream Stream::over(std::string name, std::span<const char> bytes) {
  return Stream{std::make_unique<State>(State{std::move(name), "", "", memory_source(bytes)})};
}

Stream Stream::pulling(std::string name, std::function<std::size_t(std::span<char>)> read) {
  return Stream{std::make_unique<State>(
      State{std::move(name), "", "", std::make_unique<PulledSource>(std::move(read))})};
}

Stream::Stream(Stream&&) noexcept = default;
Stream& Stream::operator=(Stream&&) noexcept = default;
Stream::~Stream() = default;

void Stream::use_threads(int threads, std::size_t packed_piece_bytes) {
  state_->top->use_threads(threads, packed_piece_bytes);
}
int Stream::threads_left_of(int threads) const {
  return std::max(1, threads - state_->top->helpers());
}
void Stream::hand_out_pieces(int threads, std::size_t piece_bytes) {
  state_->top->hand_out_pieces(threads, piece_bytes);
}
std::shared_ptr<TextPiece> Stream::next_piece() { return state_->top->next_piece(); }
bool Stream::is_piece_next() const { return state_->top->is_piece_next(); }
std::string_view Stream::peek(std::size_t count) { return state_->top->peek(count); }
std::size_t Stream::read(std::span<char> into) { return state_->top->read(into); }
std::optional<std::string_view> Stream::map() { return state_->top->map(); }
std::optional<std::uint64_t> Stream::plain_size() const { return state_->top->plain_size(); }

std::size_t Stream::read_at(std::uint64_t byte, std::span<char> into) const {
  return state_->top->read_at(byte, into);
}

void Stream::forget_mapped(std::size_t from, std::size_t to) {
  state_->top->forget_mapped(from, to);
}

const std::string& Stream::name() const { return state_->name; }
const std::string& Stream::packing() const { return state_->packing; }
std::uint64_t Stream::packed_bytes() const { return state_->top->packed_bytes(); }
double Stream::progress() const { return state_->top->progress(); }
const std::string& Stream::damage() const { return state_->top->damage(); }
const std::string& Stream::remark() const { return state_->remark; }

}  // namespace tracelens::io
