#include "io/gzip_writer.hpp"

#include <isa-l/igzip_lib.h>

#include <algorithm>
#include <array>
#include <limits>
#include <vector>

#include "io/check.hpp"

namespace tracelens::io {

struct GzipWriter::State {
  isal_zstream stream{};
  std::vector<std::uint8_t> workspace = std::vector<std::uint8_t>(ISAL_DEF_LVL1_DEFAULT);
  std::array<std::uint8_t, std::size_t{64} << 10> packed{};
};

GzipWriter::GzipWriter(OutputFile& out) : out_{out}, state_{std::make_unique<State>()} {
  isal_zstream& stream = state_->stream;
  isal_deflate_init(&stream);
  stream.gzip_flag = IGZIP_GZIP;
  stream.level = 1;
  stream.level_buf = state_->workspace.data();
  stream.level_buf_size = static_cast<std::uint32_t>(state_->workspace.size());
}

GzipWriter::~GzipWriter() = default;

void GzipWriter::write(std::string_view text) {
  constexpr std::size_t kMost = std::numeric_limits<std::uint32_t>::max() / 2;
  while (!text.empty()) {
    const std::string_view part = text.substr(0, kMost);
    pack(part, false);
    text.remove_prefix(part.size());
  }
}

void GzipWriter::finish() { pack({}, true); }

void GzipWriter::pack(std::string_view text, bool is_last) {
  isal_zstream& stream = state_->stream;
  // The library does not write through this pointer.
  stream.next_in = reinterpret_cast<std::uint8_t*>(const_cast<char*>(text.data()));
  stream.avail_in = static_cast<std::uint32_t>(text.size());
  stream.end_of_stream = is_last ? 1 : 0;
  do {
    stream.next_out = state_->packed.data();
    stream.avail_out = static_cast<std::uint32_t>(state_->packed.size());
    const int status = isal_deflate(&stream);
    TL_CHECK(status == COMP_OK);
    const std::size_t size = state_->packed.size() - stream.avail_out;
    out_.write({reinterpret_cast<const char*>(state_->packed.data()), size});
  } while (stream.avail_out == 0 || stream.avail_in > 0);
}

}  // namespace tracelens::io
