// Any bytes are either read or refused with an Error, and the number of threads and the places of
// the cuts make no difference.
#include <cstddef>
#include <cstdint>
#include <string_view>

#include "io/check.hpp"
#include "readers/kit/dump.hpp"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view bytes{reinterpret_cast<const char*>(data), size};
  const std::string whole = tracelens::dump_read(bytes, {.threads = 1});
  TL_CHECK(whole == tracelens::dump_read(bytes, {.threads = 1, .block_bytes = 64}));
  TL_CHECK(whole == tracelens::dump_read(bytes, {.threads = 3, .block_bytes = 100}));
  return 0;
}
