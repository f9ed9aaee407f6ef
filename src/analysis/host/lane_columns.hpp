// lane_columns.hpp: the columns by which tables say which GPU and which stream a row is about.
#pragma once

#include <tracelens/table.hpp>

namespace tracelens {

[[nodiscard]] inline ColumnSpec device_column() {
  return {"device", Kind::kInteger, "id", "GPU as numbered by the profiler"};
}
[[nodiscard]] inline ColumnSpec stream_column() {
  return {"stream", Kind::kInteger, "id", "stream of that GPU"};
}

}  // namespace tracelens
