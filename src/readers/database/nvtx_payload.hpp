// nvtx_payload.hpp: the binary payload of an NVTX range, read by the schema that the file has of it.
//   schemas.add_entry(7, {.type = 18, .name = "Message size [bytes]", .offset = 8});
//   schemas.read(blob).number("Message size [bytes]")      // 4096; nothing when the blob has none
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace tracelens {

struct NvtxPayload {
  bool is_known = false;                                                // its schema is in the file
  std::vector<std::pair<std::string_view, std::int64_t>> numbers = {};  // names live in the schemas
  // A whole number of the payload; unsigned ones as they lie in memory.
  [[nodiscard]] std::optional<std::int64_t> number(std::string_view name) const;
};

class NvtxSchemas {
 public:
  struct Entry {
    std::int64_t type = 0;
    std::string name;
    std::uint64_t offset = 0;
  };
  void add_entry(std::int64_t schema, Entry entry) { entries_[schema].push_back(std::move(entry)); }

  // `blob` is what the range has: bytes, or their hex digits.
  [[nodiscard]] NvtxPayload read(std::string_view blob) const;

 private:
  std::map<std::int64_t, std::vector<Entry>> entries_;  // by schema
};

}  // namespace tracelens
