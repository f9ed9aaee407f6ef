// nsight_rows.hpp: the rows of an export of Nsight Systems, as its reader takes them in.
#pragma once

#include <fmt/format.h>

#include <array>
#include <cstdint>
#include <map>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "readers/database/emit_text.hpp"
#include "readers/database/table_rows.hpp"

namespace tracelens::nsight {

// A globalTid: the machine above, then 24 bits of process, 24 of thread. Unsigned: it may have wrapped.
struct Place {
  explicit Place(std::int64_t global)
      : is_known{global != kAbsent},
        pid{static_cast<std::int64_t>(static_cast<std::uint64_t>(global) >> 24 & 0xffffff)},
        tid{static_cast<std::int64_t>(static_cast<std::uint64_t>(global) & 0xffffff)} {}
  bool is_known;
  std::int64_t pid, tid;
};

// Which class of call a row of the table of calls is.
inline constexpr std::int64_t kDriverClass = 1, kBacktraceClass = 67;
// Kinds of NVTX events.
inline constexpr std::int64_t kMark = 34, kPushPop = 59, kStartEnd = 60, kTextPushPop = 70,
                              kTextStartEnd = 71, kDomain = 75;

inline constexpr std::string_view kCopyKinds[] = {"Unknown",
                                                  "Host-to-Device",
                                                  "Device-to-Host",
                                                  "Host-to-Array",
                                                  "Array-to-Host",
                                                  "Array-to-Array",
                                                  "Array-to-Device",
                                                  "Device-to-Array",
                                                  "Device-to-Device",
                                                  "Host-to-Host",
                                                  "Peer-to-Peer",
                                                  "Unified Host-to-Device",
                                                  "Unified Device-to-Host",
                                                  "Unified Device-to-Device"};
inline constexpr std::string_view kMemoryKinds[] = {"Pageable",       "Pinned",  "Device",
                                                    "Array",          "Managed", "Device Static",
                                                    "Managed Static", "Unknown"};

// The words of an enum: the file's, or those that were there before files had them.
class Labels {
 public:
  Labels(Job& job, const DatabaseFile& file, const std::string& table,
         std::span<const std::string_view> known) {
    for (std::size_t i = 0; i < known.size(); ++i) words_[static_cast<std::int64_t>(i)] = known[i];
    for_each_row(job, {file, table, {"id", "label"}}, [this](const Statement& row) {
      if (!row.text(1).empty()) words_[row.integer(0)] = row.text(1);
    });
  }
  [[nodiscard]] std::string of(std::int64_t id) const {
    const auto found = words_.find(id);
    return found != words_.end() ? found->second
           : id == kAbsent       ? std::string{}
                                 : fmt::format("{}", id);
  }

 private:
  std::map<std::int64_t, std::string> words_;
};

// "cudaLaunchKernel_ptsz_v7000" -> "cudaLaunchKernel"
[[nodiscard]] std::string_view plain_call(std::string_view name);

struct CallRow {
  std::int64_t start_ns, end_ns, thread, correlation, name, call_class;
};
struct CallRows {
  std::vector<CallRow> rows;
  void add(const Statement& row) {
    rows.push_back({row.integer(0), row.integer(1), row.integer(2), row.integer(3), row.integer(4),
                    row.integer(5)});
  }
  void complete(const Connection&) {}
};

// The columns that all GPU events begin with, and those of their own.
inline constexpr std::array<std::string_view, 7> kGpuColumns{
    "start", "end", "globalPid", "deviceId", "streamId", "correlationId", "contextId"};
inline constexpr std::size_t kOwnColumns = 14;
struct GpuRow {
  std::int64_t start_ns, end_ns, process, device, stream, correlation, context;
  std::array<std::int64_t, kOwnColumns> own;
};
struct GpuRows {
  std::vector<GpuRow> rows;
  std::size_t own_columns = 0;
  void add(const Statement& row) {
    GpuRow& made = rows.emplace_back(GpuRow{row.integer(0),
                                            row.integer(1),
                                            row.integer(2),
                                            row.integer(3),
                                            row.integer(4),
                                            row.integer(5),
                                            row.integer(6),
                                            {}});
    for (std::size_t i = 0; i < own_columns; ++i)
      made.own[i] = row.integer(static_cast<int>(kGpuColumns.size() + i));
  }
  void complete(const Connection&) {}
};

struct NvtxRow {
  std::int64_t start_ns, end_ns, type, text_id, domain, thread, size;
  bool has_text;
  std::string_view text = {}, payload = {};  // in the piece's own bytes; see NvtxRows
  EmittedOp op = {};                         // of its text
};
// Texts and payloads of all rows stand one after the other: a text by itself would cost more than
// reading it.
struct NvtxRows {
  explicit NvtxRows(const DatabaseFile& of) : file{&of} {}
  const DatabaseFile* file;
  std::vector<NvtxRow> rows;
  void add(const Statement& row) {
    rows.push_back({row.integer(0), row.integer(1), row.integer(2), row.integer(4), row.integer(5),
                    row.integer(6), row.integer(7), !row.is_null(3)});
    sizes_.push_back({keep(row.text(3)), keep(row.blob(8))});
  }
  void complete(const Connection& connection);

 private:
  struct Sizes {
    std::size_t text, payload;
  };
  std::size_t keep(std::string_view bytes) {
    bytes_ += bytes;
    return bytes.size();
  }
  void find_texts(const Connection& connection);
  std::string bytes_, shared_bytes_;
  std::vector<Sizes> sizes_;
};

}  // namespace tracelens::nsight
