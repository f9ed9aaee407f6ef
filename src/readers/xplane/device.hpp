// device.hpp: the plane of a GPU: its kernels, and above them the HLO ops and module runs
// they belong to.
//   DeviceReader{plane, pages, modules, hints, {.pid = 1, .name = "vm /device:GPU:0"},
//   builder, threads}.read();
// For each stream the rows are, in order of time: a module run, its first op, the op's kernels, the
// next op, ... Modules and ops are cpu_op events on the stream's own track, so that the tree of a
// profile is module -> HLO op -> kernels; op and kernels share the instruction's Signature. An op
// lasts until its last kernel ends, but no longer than until the next op starts, since kernels of
// one stream may overlap a little. GPU work that no module launched (copies of buffers) stands by
// itself.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <tracelens/trace_builder.hpp>
#include <unordered_map>
#include <vector>

#include "readers/xplane/host.hpp"
#include "readers/xplane/modules.hpp"
#include "readers/xplane/plane.hpp"

namespace tracelens::xplane {

class DeviceReader {
 public:
  DeviceReader(const Plane& plane, const Pages& pages, Modules& modules, const HostHints& hints,
               Process process, TraceBuilder& builder, int threads)
      : plane_{plane},
        pages_{pages},
        modules_{modules},
        hints_{hints},
        process_{std::move(process)},
        builder_{builder},
        threads_{threads} {}

  void read();

 private:
  struct Kernel {
    EventRow row;
    Program* program = nullptr;  // null: no module launched it
    std::string_view hlo_op;     // lives as long as the plane
    std::string_view details;    // "kind_src:pinned size:1024 ..." of a copy
  };
  // What an event says by itself: found by many threads at once.
  struct Facts {
    std::int64_t metadata_id = 0;
    std::optional<Span> span = {};
    std::int64_t correlation = kAbsent;
    Category category = Category::kNone;
    std::string_view hlo_op = {}, module = {}, details = {};  // live as long as the plane
    std::optional<std::int64_t> program = {};
  };
  void read_stream(const Line& line);
  void read_other(const Line& line);
  [[nodiscard]] Facts facts_of(const Line& line, const Event& event) const;
  [[nodiscard]] StringId name_of(std::int64_t metadata_id);
  [[nodiscard]] Kernel kernel_of(const Facts& event);
  [[nodiscard]] std::uint32_t run_of(const Kernel& kernel);  // see HostHints

  // Kernels that only name the graph they are part of wait until all of it is there.
  void add(const Kernel& kernel);
  [[nodiscard]] bool adopt(const Kernel& kernel);
  void flush();
  void place(const Kernel& kernel, const HloOp& op, bool starts_op);
  void append(const Kernel& kernel, SignatureId signature);
  [[nodiscard]] bool starts_run(const Kernel& kernel, const HloOp& op, std::uint32_t run) const;
  void close_op(std::int64_t next_ns);
  void close_run(std::int64_t next_ns);

  const Plane& plane_;
  const Pages& pages_;
  Modules& modules_;
  const HostHints& hints_;
  Process process_;
  TraceBuilder& builder_;
  const int threads_;

  std::unordered_map<std::int64_t, StringId> names_;
  TrackId track_{};
  std::vector<Kernel> waiting_;

  // What is open on the stream at hand.
  struct OpenSpan {
    EventId row{};  // invalid: none
    std::int64_t start_ns = 0, end_ns = 0;
  };
  OpenSpan open_run_, open_op_;
  Program* program_ = nullptr;
  const HloOp* op_ = nullptr;
  std::uint32_t run_ = 0, position_ = 0;
  StringId first_kernel_{};  // of the open op
  std::int64_t last_correlation_ = kAbsent;
  std::uint64_t damaged_ = 0;
  struct {
    const Program* program = nullptr;
    std::int64_t correlation = 0;
    std::uint32_t run = 0;
  } told_;  // what the host said last
};

}  // namespace tracelens::xplane
