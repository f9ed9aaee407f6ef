// Any bytes are either read or refused with an Error, and the number of threads and the places of
// the cuts make no difference. Whoever copies events as text finds a place for each, in order.
#include <cstddef>
#include <cstdint>
#include <string_view>
#include <tracelens/error.hpp>

#include "io/check.hpp"
#include "io/stream.hpp"
#include "readers/kineto/kineto.hpp"
#include "readers/kit/dump.hpp"

namespace {

void check_places(std::string_view bytes) {
  using namespace tracelens;
  io::Stream in = io::Stream::over("fuzz", bytes);
  if (!is_kineto(in.peek(4096))) return;
  const TextIndex index = index_kineto(in, {.threads = 2, .block_bytes = 90});
  const Trace& trace = index.trace;
  const EventPlaces& places = index.places;
  TL_CHECK(places.begins.size() == trace.size() && places.sizes.size() == trace.size());
  std::uint64_t end = 0;
  for (std::size_t row = 0; row < trace.size(); ++row) {
    TL_CHECK(places.begins[row] >= end);
    end = places.begins[row] + places.sizes[row];
    TL_CHECK(end <= trace.source().text_bytes);
    if (places.sizes[row] > 0 && in.packing().empty())
      TL_CHECK(bytes[places.begins[row]] == '{' && bytes[end - 1] == '}');
  }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view bytes{reinterpret_cast<const char*>(data), size};
  const std::string whole = tracelens::dump_read(bytes, {.threads = 1});
  TL_CHECK(whole == tracelens::dump_read(bytes, {.threads = 1, .block_bytes = 64}));
  TL_CHECK(whole == tracelens::dump_read(bytes, {.threads = 3, .block_bytes = 100}));
  try {
    check_places(bytes);
  } catch (const tracelens::Error&) {
    // Told above as well.
  }
  return 0;
}
