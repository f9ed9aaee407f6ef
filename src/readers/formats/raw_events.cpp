#include <tracelens/raw_events.hpp>

#include <algorithm>
#include <cstring>
#include <filesystem>
#include <system_error>
#include <utility>

#include "io/stream.hpp"
#include "io/threads.hpp"
#include "readers/formats/own_formats.hpp"
#include "readers/kineto/kineto.hpp"

namespace tracelens {
namespace {

constexpr std::size_t kPadding = 32;

// Text that grows while it is read by another.
class GrowingText {
 public:
  void append(std::span<const char> bytes) {
    if (size_ + bytes.size() + kPadding > capacity_) {
      capacity_ = std::max(2 * capacity_, size_ + bytes.size() + kPadding);
      auto larger = std::make_unique_for_overwrite<char[]>(capacity_);
      if (size_ > 0) std::memcpy(larger.get(), text_.get(), size_);
      text_ = std::move(larger);
    }
    std::ranges::copy(bytes, text_.get() + size_);
    size_ += bytes.size();
  }
  [[nodiscard]] std::unique_ptr<const char[]> take() {
    append({});
    std::memset(text_.get() + size_, 0, kPadding);
    return std::move(text_);
  }

 private:
  std::unique_ptr<char[]> text_;
  std::size_t size_ = 0, capacity_ = 0;
};

std::optional<RawEvents> read_raw(io::Stream& in, const ReadOptions& options) {
  if (!is_chrome_json(in.peek(4096))) return std::nullopt;
  ReadOptions beside = options;
  const int threads = io::thread_count(options.threads);
  in.use_threads(threads);
  beside.threads = in.threads_left_of(threads);
  GrowingText text;
  // The reader of traces finds the events: they have the numbers of the trace's rows, also in a file
  // that is damaged.
  io::Stream copying = io::Stream::pulling(in.name(), [&](std::span<char> into) {
    const std::size_t got = in.read(into);
    text.append(into.first(got));
    return got;
  });
  const TextIndex index = index_kineto(copying, beside);
  std::vector<RawEvents::Place> places(index.places.begins.size());
  for (std::size_t i = 0; i < places.size(); ++i)
    places[i] = {index.places.begins[i], index.places.sizes[i]};
  return RawEvents{text.take(), std::move(places)};
}

std::string read_head(io::Stream& in, std::size_t bytes) {
  std::string head(bytes, '\0');
  head.resize(in.read(head));
  return head;
}

}  // namespace

std::string read_text_head(const std::string& path, std::size_t bytes) {
  io::Stream in = io::Stream::open(path);
  return read_head(in, bytes);
}

std::string read_text_head_bytes(std::string name, std::span<const char> packed,
                                 std::size_t bytes) {
  io::Stream in = io::Stream::over(std::move(name), packed);
  return read_head(in, bytes);
}

std::optional<RawEvents> read_raw_events(const std::string& path, const ReadOptions& options) {
  std::error_code error;
  if (std::filesystem::is_directory(path, error)) return std::nullopt;  // of JAX profiles
  io::Stream in = io::Stream::open(path);
  return read_raw(in, options);
}

std::optional<RawEvents> read_raw_events_bytes(std::string name, std::span<const char> bytes,
                                               const ReadOptions& options) {
  io::Stream in = io::Stream::over(std::move(name), bytes);
  return read_raw(in, options);
}

}  // namespace tracelens
