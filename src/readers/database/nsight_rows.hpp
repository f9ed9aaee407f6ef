// nsight_rows.hpp: the rows of an export of Nsight Systems, as its reader takes them in.
#pragma once

#include <fmt/format.h>

#include <algorithm>
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
        process{static_cast<std::int64_t>(static_cast<std::uint64_t>(global) >> 24)},
        tid{static_cast<std::int64_t>(static_cast<std::uint64_t>(global) & 0xffffff)} {}
  bool is_known;
  std::int64_t process;  // with its machine: each may have a process of the same pid
  std::int64_t tid;
  [[nodiscard]] std::int64_t pid() const { return process & 0xffffff; }
  [[nodiscard]] std::int64_t machine() const { return process >> 24; }
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
    std::array<std::int64_t, 6> cells;
    row.integers(cells);
    rows.push_back({cells[0], cells[1], cells[2], cells[3], cells[4], cells[5]});
  }
  void complete(const Connection&) {}
  void clear() { rows.clear(); }
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
    std::array<std::int64_t, kGpuColumns.size() + kOwnColumns> cells{};
    row.integers(std::span{cells}.first(kGpuColumns.size() + own_columns));
    GpuRow& made = rows.emplace_back(
        GpuRow{cells[0], cells[1], cells[2], cells[3], cells[4], cells[5], cells[6], {}});
    std::copy_n(cells.begin() + kGpuColumns.size(), kOwnColumns, made.own.begin());
  }
  void complete(const Connection&) {}
  void clear() { rows.clear(); }
};

inline constexpr std::array<std::string_view, 9> kNvtxColumns{
    "start",     "end",         "eventType", "textId",    "domainId",
    "globalTid", "uint64Value", "text",      "binaryData"};
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
    std::array<std::int64_t, 7> cells;
    row.integers(cells);
    // Most texts are by number, and few ranges have a payload: asking is cheaper than taking nothing.
    const bool has_text = !row.is_null(7), has_payload = !row.is_null(8);
    rows.push_back(
        {cells[0], cells[1], cells[2], cells[3], cells[4], cells[5], cells[6], has_text});
    sizes_.push_back(
        {has_text ? keep(row.text(7)) : 0, has_payload ? keep(row.blob(8)) : std::size_t{0}});
  }
  void clear() {
    rows.clear();
    sizes_.clear();
    bytes_.clear();
    shared_bytes_.clear();
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
