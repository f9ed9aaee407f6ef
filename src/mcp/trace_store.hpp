// trace_store.hpp: traces that were read, with what was found out about them, as long as memory allows.
//   const Lease lease = store.open(file, options, control);      // reads it, where nobody has
//   lease->session().run("SELECT ...", rows);
// A trace is kept under its file's identity: one that has changed is another. The least recently used
// goes first; what a call works with stays.
#pragma once

#include <cstddef>
#include <cstdint>
#include <list>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <string_view>
#include <tracelens/check.hpp>
#include <tracelens/diagnose.hpp>
#include <tracelens/query.hpp>
#include <tracelens/read_trace.hpp>
#include <tracelens/report.hpp>
#include <tracelens/trace.hpp>
#include <tracelens/tree.hpp>
#include <unordered_map>

#include "mcp/allowed_folders.hpp"
#include "mcp/control.hpp"
#include "mcp/timed_mutex.hpp"

namespace tracelens::mcp {

// One trace with one choice of options. For one thread at a time.
class TraceDesk {
 public:
  TraceDesk(std::shared_ptr<const Trace> trace, ReportOptions options)
      : trace_{std::move(trace)}, options_{std::move(options)} {}
  explicit TraceDesk(std::string database) : database_{std::move(database)} {}

  // Throws ToolError when there is a file written by -o report.db instead.
  [[nodiscard]] const Trace& trace() const;
  [[nodiscard]] std::shared_ptr<const Trace> shared_trace() const { return trace_; }
  [[nodiscard]] bool has_trace() const { return trace_ != nullptr; }
  [[nodiscard]] const ReportOptions& options() const { return options_; }

  // Each made when first asked for.
  [[nodiscard]] QuerySession& session();
  [[nodiscard]] const Table& columns(const std::string& table);  // as of the session
  [[nodiscard]] const Report& report();                          // its tables are elsewhere: made()
  [[nodiscard]] const Tree& tree();                              // with Python frames
  [[nodiscard]] const TraceCheck& check();
  [[nodiscard]] const Diagnosis& diagnosis();
  // Of a text in table `string`.
  [[nodiscard]] std::optional<std::int64_t> string_id(std::string_view text);
  // What report() begins with; null: it has no table.
  [[nodiscard]] std::shared_ptr<const Table> first_table();
  // A table of the report that was made already; null: it was not.
  [[nodiscard]] std::shared_ptr<const Table> made(std::string_view name) const;
  // The same, made now where it was not; null when the trace does not have it. Throws Error.
  [[nodiscard]] std::shared_ptr<const Table> table(const std::string& name);

  [[nodiscard]] std::size_t bytes() const;  // without the trace

 private:
  std::shared_ptr<const Trace> trace_;
  ReportOptions options_;
  std::string database_;
  std::optional<QuerySession> session_;
  std::map<std::string, Table> columns_;
  std::optional<Report> report_;
  std::vector<std::shared_ptr<const Table>> report_tables_;
  std::string first_table_;
  std::optional<Tree> tree_;
  std::optional<TraceCheck> check_;
  std::optional<Diagnosis> diagnosis_;
  std::unordered_map<std::string_view, std::uint32_t> string_ids_;
};

struct StoreLimits {
  std::size_t bytes = std::size_t{1} << 30;           // of all traces together
  std::uint64_t text_bytes = std::uint64_t{2} << 30;  // of one, unpacked
};

class TraceStore {
 private:
  struct Slot;

 public:
  explicit TraceStore(const StoreLimits& limits) : limits_{limits} {}

  // A desk that is this call's alone until the lease ends.
  class Lease {
   public:
    Lease(TraceStore& store, std::shared_ptr<Slot> slot, std::unique_lock<TimedMutex> lock,
          TraceDesk& desk)
        : store_{&store}, slot_{std::move(slot)}, lock_{std::move(lock)}, desk_{&desk} {}
    Lease(Lease&& other) noexcept = default;
    Lease& operator=(Lease&&) = delete;
    ~Lease();
    TraceDesk* operator->() const { return desk_; }
    TraceDesk& operator*() const { return *desk_; }

   private:
    TraceStore* store_;
    std::shared_ptr<Slot> slot_;
    std::unique_lock<TimedMutex> lock_;
    TraceDesk* desk_;
  };

  // Throws ToolError when the file cannot be read or the options are wrong, and Stopped.
  [[nodiscard]] Lease open(const OpenFile& file, const ReportOptions& options,
                           CallControl& control);
  // Reads a file without keeping it: for what wants a trace of its own.
  [[nodiscard]] Trace read(const OpenFile& file, CallControl& control) const;
  // The same by a path that was found to be allowed, or leads on into an archive that was: with the same
  // limits, on several threads at once. Throws Error when it cannot be read, ToolError and Stopped.
  [[nodiscard]] Trace read_path(const std::string& path, const CallControl& control,
                                ReadOptions options = {}) const;

 private:
  friend class Lease;
  void trim(const Slot* used, std::size_t bytes);

  StoreLimits limits_;
  std::mutex mutex_;                        // guards slots_ and what they say about their size
  std::list<std::shared_ptr<Slot>> slots_;  // the most recently used first
};

// About as much memory as a trace takes.
[[nodiscard]] std::size_t approximate_bytes(const Trace& trace);

// The sentence of an error, with the names that the client knows.
[[nodiscard]] std::string sentence_about(const std::exception& error, const OpenFile& file);

}  // namespace tracelens::mcp
