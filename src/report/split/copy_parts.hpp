// copy_parts.hpp: stretches of a trace's text copied into many packed files, in one pass.
//   copy_parts("serve.json.gz", runs, names, {.closing = "]}"}, folder);
#pragma once

#include <cstdint>
#include <limits>
#include <span>
#include <string>
#include <vector>

#include "readers/chrome/repaired_json.hpp"
#include "readers/kineto/kineto.hpp"
#include "report/sinks/output_folder.hpp"

namespace tracelens {

// The text [begin, end) of the unpacked file goes to a part: whole events with what stands between
// them, or what stands before or behind the event list. Commas between runs are added.
struct TextRun {
  static constexpr std::uint32_t kEveryPart = std::numeric_limits<std::uint32_t>::max();
  std::uint64_t begin = 0, end = 0;
  std::uint32_t part = 0;
  enum class Kind : std::uint8_t { kHead, kEvents, kTail } kind = Kind::kEvents;
};

struct CopyOptions {
  std::string opening = {}, closing = {};  // written before the first run of every part, and behind
  EventPlaces places = {};
  int threads = 0;
};

// Writes part i to the file names[i]. The runs of a part must not overlap; any order. Text is held
// one block per thread, whatever the sizes of file and parts. Events that are no strict JSON are put
// right or left out, and counted. Throws Error when the file cannot be read again, or is not what it
// was when the runs were found.
[[nodiscard]] JsonRepairs copy_parts(const std::string& trace, std::vector<TextRun> runs,
                                     std::span<const std::string> names, const CopyOptions& options,
                                     OutputFolder& folder);

}  // namespace tracelens
