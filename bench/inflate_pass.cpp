// inflate_pass.cpp: a yardstick for traces that are packed: unpacks one as the readers do, and no more.
//   inflate_pass trace.json.gz   ->   {"seconds": 0.113, "bytes": 222000000}
#include <fmt/format.h>

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <exception>
#include <vector>

#include "io/stream.hpp"

int main(int argc, char** argv) {
  if (argc != 2) {
    fmt::print(stderr, "usage: inflate_pass TRACE.json.gz\n");
    return 2;
  }
  try {
    const auto start = std::chrono::steady_clock::now();
    tracelens::io::Stream in = tracelens::io::Stream::open(argv[1]);
    std::vector<char> block(std::size_t{1} << 20);
    std::uint64_t bytes = 0;
    while (const std::size_t got = in.read(block)) bytes += got;
    const std::chrono::duration<double> took = std::chrono::steady_clock::now() - start;
    fmt::print("{{\"seconds\": {:.4f}, \"bytes\": {}}}\n", took.count(), bytes);
  } catch (const std::exception& error) {
    fmt::print(stderr, "inflate_pass: {}\n", error.what());
    return 2;
  }
}
