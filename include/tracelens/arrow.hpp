// arrow.hpp: tables and events for programs that speak Arrow (polars, pyarrow, duckdb, ...), by its C
// data interface: three structs of the Arrow specification. No Arrow library is needed or linked.
//   ArrowArrayStream stream;
//   export_table(std::make_shared<const Table>(table), &stream);
//   ... whoever takes the stream reads it and calls stream.release(&stream)
// Integers are int64, reals float64 (a missing cell or NaN is null), truth values bool, texts
// large_utf8, nested cells their JSON as large_utf8. The metadata of a field says its "unit" and
// "description". Implemented in src/arrow.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <tracelens/table.hpp>
#include <tracelens/trace.hpp>
#include <vector>

#ifndef ARROW_C_DATA_INTERFACE
#define ARROW_C_DATA_INTERFACE
#define ARROW_FLAG_DICTIONARY_ORDERED 1
#define ARROW_FLAG_NULLABLE 2
#define ARROW_FLAG_MAP_KEYS_SORTED 4
extern "C" {
struct ArrowSchema {
  const char* format;
  const char* name;
  const char* metadata;
  std::int64_t flags;
  std::int64_t n_children;
  struct ArrowSchema** children;
  struct ArrowSchema* dictionary;
  void (*release)(struct ArrowSchema*);
  void* private_data;
};
struct ArrowArray {
  std::int64_t length;
  std::int64_t null_count;
  std::int64_t offset;
  std::int64_t n_buffers;
  std::int64_t n_children;
  const void** buffers;
  struct ArrowArray** children;
  struct ArrowArray* dictionary;
  void (*release)(struct ArrowArray*);
  void* private_data;
};
}
#endif

#ifndef ARROW_C_STREAM_INTERFACE
#define ARROW_C_STREAM_INTERFACE
extern "C" {
struct ArrowArrayStream {
  int (*get_schema)(struct ArrowArrayStream*, struct ArrowSchema* out);
  int (*get_next)(struct ArrowArrayStream*, struct ArrowArray* out);
  const char* (*get_last_error)(struct ArrowArrayStream*);
  void (*release)(struct ArrowArrayStream*);
  void* private_data;
};
}
#endif

namespace tracelens {

// Fills `out`, which must not hold a stream. What is handed out refers to the table, which lives until
// the last part is released, in whatever order and by whatever thread. One batch; none of an empty table.
void export_table(std::shared_ptr<const Table> table, ArrowArrayStream* out);

// The columns that events have: "ts_ns", "dur_ns", "correlation", "name", "cat", "phase", "track",
// "signature", "external_id", "sequence", "forward_thread", "stream", "device".
[[nodiscard]] std::vector<std::string_view> event_columns();

// The same for these columns of the events, in batches of 65,536 rows. Times and ids are not copied;
// name, cat, phase, track ("pid/tid") and signature (JSON) are dictionaries over the trace's ids, in
// which an entry that no event has may be empty. An event without a number has null. Throws Error for
// a column that events do not have.
void export_events(std::shared_ptr<const Trace> trace, const std::vector<std::string>& columns,
                   ArrowArrayStream* out);

}  // namespace tracelens
