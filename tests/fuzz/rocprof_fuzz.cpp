// Any bytes are either read as rocprofv3's results (JSON or CSV) or refused with an Error, and the
// places of the cuts make no difference.
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <tracelens/error.hpp>

#include "io/check.hpp"
#include "io/stream.hpp"
#include "readers/kit/dump.hpp"
#include "readers/rocprof/csv.hpp"
#include "readers/rocprof/rocprof.hpp"

namespace {

using Reader = tracelens::Trace (*)(tracelens::io::Stream&, const tracelens::ReadOptions&);

// Straight to the reader, so that no byte is spent on being recognised.
std::string dump_with(Reader read, std::string_view bytes, std::size_t block_bytes) {
  try {
    auto in = tracelens::io::Stream::over("input", bytes);
    return tracelens::dump(read(in, {.threads = 1, .block_bytes = block_bytes}));
  } catch (const tracelens::Error& error) {
    return error.what();
  }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view bytes{reinterpret_cast<const char*>(data), size};
  for (const Reader read : {tracelens::read_rocprof, tracelens::read_rocprof_csv}) {
    const std::string whole = dump_with(read, bytes, std::size_t{1} << 16);
    TL_CHECK(whole == dump_with(read, bytes, 16));
    TL_CHECK(whole == dump_with(read, bytes, 61));
  }
  return 0;
}
