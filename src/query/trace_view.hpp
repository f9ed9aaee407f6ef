// trace_view.hpp: what the tables of SQL ask of one trace, each found out once, when first asked.
//   TraceView view{trace, options};
//   view.slices().parent[event.row];
// For one thread. Texts that are handed out live as long as the view.
#pragma once

#include <cstdint>
#include <deque>
#include <limits>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <tracelens/diagnose.hpp>
#include <tracelens/model.hpp>
#include <tracelens/report.hpp>
#include <tracelens/trace.hpp>
#include <tracelens/tree.hpp>
#include <unordered_map>
#include <vector>

#include "analysis/ops/launch_table.hpp"
#include "facts/host_ranges.hpp"
#include "facts/kernel_rules.hpp"
#include "facts/op_places.hpp"
#include "facts/trace_facts.hpp"
#include "perf/registry/user_models.hpp"

namespace tracelens::query {

// A text by its number. Those of the trace's strings come first; others are added when met.
using TextCode = std::uint32_t;
inline constexpr TextCode kNoText = std::numeric_limits<std::uint32_t>::max();

// Events with a duration, nested by time on their track, longest first.
struct Slices {
  std::vector<std::uint32_t> rows;    // ascending
  std::vector<std::uint32_t> parent;  // by event; kNoText: none
  std::vector<std::uint32_t> depth;   // by event
};

// A piece of an event's arguments.
struct ArgLeaf {
  std::string key, flat_key;  // "args.Input Dims[0][1]", "args.Input Dims"
  Value value;                // null, a bool, a number or a text
  std::uint32_t slot = 0;     // among those of the event
};
// Arguments from columns, from the signature and from the details have slots of their own.
inline constexpr std::uint32_t kSignatureSlots = 16, kDetailSlots = 32768, kSlots = 65536;

// An arrow from one slice to another.
struct Flow {
  std::uint32_t out = 0, in = 0;  // events
  bool is_launch = false;         // else from forward to backward
};

// The memory of one device, as the framework's allocator tells of it.
struct MemoryDevice {
  std::int16_t type = 0, device = -1;
  bool operator==(const MemoryDevice&) const = default;
};

class TraceView {
 public:
  TraceView(std::shared_ptr<const Trace> trace, const ReportOptions& options);
  TraceView(const TraceView&) = delete;
  TraceView& operator=(const TraceView&) = delete;

  [[nodiscard]] const Trace& trace() const { return *trace_; }
  [[nodiscard]] const ReportOptions& options() const { return options_; }
  [[nodiscard]] const TraceFacts& facts() const { return facts_; }
  [[nodiscard]] const Tree& tree() const { return facts_.tree(); }
  [[nodiscard]] const Diagnosis& diagnosis();

  // --- texts ---
  [[nodiscard]] TextCode code_of(std::string_view text);    // adds it where it is new
  [[nodiscard]] TextCode find_text(std::string_view text);  // kNoText: nobody has it
  [[nodiscard]] std::string_view text_of(TextCode code) const;
  [[nodiscard]] std::size_t text_count() const { return trace_->string_count() + more_.size(); }
  [[nodiscard]] TextCode category_code(std::uint32_t event);

  // --- rows ---
  [[nodiscard]] const Slices& slices();
  void need_nesting();                                      // of slices()
  [[nodiscard]] std::span<const std::uint32_t> gpu_rows();  // GPU events with a time
  [[nodiscard]] std::span<const std::uint32_t> op_rows();   // ops that are in the tree
  [[nodiscard]] std::span<const std::uint32_t> instant_rows();
  [[nodiscard]] std::span<const std::uint32_t> launched();  // linked GPU events, by launch

  // --- of a GPU event ---
  [[nodiscard]] EventId launch_of(std::uint32_t gpu_event);
  [[nodiscard]] NodeId launcher_of(std::uint32_t gpu_event);  // the op; invalid: none
  [[nodiscard]] std::int64_t device_of(std::uint32_t event) const;
  [[nodiscard]] std::int64_t stream_of(std::uint32_t event) const;
  [[nodiscard]] TextCode kernel_category(std::uint32_t gpu_event);
  [[nodiscard]] std::int64_t detail_integer(std::uint32_t event, std::string_view key);

  // --- of a node ---
  [[nodiscard]] const LaunchTable& launches();
  [[nodiscard]] OpPlaces& places();
  [[nodiscard]] TextCode op_category(NodeId op);
  [[nodiscard]] TextCode module_name(NodeId node);  // kNoText: in none
  [[nodiscard]] std::uint32_t depth(NodeId node);

  [[nodiscard]] TextCode step_at(std::int64_t ts_ns);  // kNoText: in none
  [[nodiscard]] const perf::UserModels& own_models();
  [[nodiscard]] const std::vector<std::uint32_t>& upids();  // by track
  [[nodiscard]] std::uint32_t process_count();

  [[nodiscard]] const std::vector<Flow>& flows();
  [[nodiscard]] const std::vector<MemoryDevice>& memory_devices();
  // In memory_devices(), of a row of Trace::memory_changes().
  [[nodiscard]] std::uint32_t memory_device(std::uint32_t change);

  // --- arguments: those of columns, of the signature, of the details ---
  void column_args(std::uint32_t event, std::vector<ArgLeaf>& out) const;
  [[nodiscard]] const std::vector<ArgLeaf>& signature_args(SignatureId signature);
  [[nodiscard]] const std::vector<ArgLeaf>& detail_args(StringId details);

 private:
  void find_processes();
  void find_memory_devices();

  std::shared_ptr<const Trace> trace_;
  ReportOptions options_;
  TraceFacts facts_;
  std::optional<Diagnosis> diagnosis_;
  std::deque<std::string> more_;
  std::unordered_map<std::string_view, TextCode> codes_;
  std::vector<TextCode> category_codes_;  // by Category; kNoText: not met yet
  std::optional<Slices> slices_;
  std::optional<std::vector<std::uint32_t>> gpu_rows_, op_rows_, instant_rows_, launched_;
  std::vector<EventId> launches_of_;  // by event, once asked for
  std::optional<std::vector<Flow>> flows_;
  std::optional<std::vector<MemoryDevice>> memory_devices_;
  std::vector<std::uint32_t> memory_device_of_;  // by memory change
  std::optional<HostRanges> ranges_;
  std::optional<OpPlaces> places_;
  std::unique_ptr<const LaunchTable> launches_;
  std::optional<OpCategories> categories_;
  std::optional<perf::UserModels> own_models_;
  const perf::OwnCategories own_categories_{options_.category_of};
  std::unique_ptr<KernelCategories> kernel_categories_;
  std::optional<std::vector<std::uint32_t>> depths_, upids_;
  std::uint32_t process_count_ = 0;
  std::unordered_map<std::uint32_t, std::vector<ArgLeaf>> signature_args_;
  std::vector<ArgLeaf> detail_args_;
  StringId detail_args_of_;
};

}  // namespace tracelens::query
