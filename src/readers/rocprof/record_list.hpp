// record_list.hpp: a long list of records, parsed by many threads.
//   RecordList list{in, source};
//   const bool is_whole = list.read(threads, [&](const RecordBatch& batch) { ... });
// Finding where a record ends is quick and done by one thread at a time; what takes time, reading its
// members, is done by all. Batches arrive in file order whatever the number of threads.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <string_view>
#include <vector>

#include "io/stream.hpp"
#include "readers/chrome/padded_text.hpp"
#include "readers/rocprof/record.hpp"
#include "readers/rocprof/values.hpp"

namespace tracelens {

struct RecordBatch {
  struct Element {
    std::size_t begin, size;  // in `text`
    std::uint64_t byte;       // in the file
    bool is_sound = false;    // else `record` is not to be used
    RocprofRecord record = {};
  };
  PaddedText text;
  std::vector<Element> elements;
  double fraction = 0;  // of the file, read so far

  void clear();
  void add(std::string_view value, std::uint64_t byte);
  void parse();
};

class RecordList {
 public:
  // `in` stands at the list's bracket; `source` is what it reads.
  RecordList(ValueStream& in, const io::Stream& source) : in_{in}, source_{source} {}

  // False when the text ends, or stops being JSON, inside the list.
  bool read(int threads, const std::function<void(const RecordBatch&)>& accept);

 private:
  bool next(RecordBatch& batch);

  ValueStream& in_;
  const io::Stream& source_;
  bool is_over_ = false, is_whole_ = false;
};

}  // namespace tracelens
