// rows.cpp: tables with a row per op, kernel or event. An object of class Rows holds what those of one
// tree share.
#include <pybind11/pybind11.h>
#include <pybind11/stl.h>

#include <cstdint>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <tracelens/rows.hpp>
#include <tuple>
#include <utility>
#include <vector>

#include "groups.hpp"
#include "handle.hpp"
#include "parts.hpp"

namespace tracelens::python {
namespace py = pybind11;
namespace {

using TablePointer = std::shared_ptr<Table>;

TablePointer shared(Table table) { return std::make_shared<Table>(std::move(table)); }

struct RowsSettings {
  bool communication = false, include_unlinked = false, recompute = false, reference = true;
  std::optional<std::string> gpu = {};  // JSON, as read_gpu() takes it
  // Ops that the caller has models for, and their categories: the rows tell that there is a model,
  // and leave its figures to the caller.
  std::map<std::string, std::string> modelled = {};
};

// Keeps alive what OpRows refers to. One thread at a time: the others wait without the
// interpreter's lock.
class Rows {
 public:
  Rows(const TreeHandle& handle, const RowsSettings& settings)
      : trace_{handle.trace}, tree_{handle.tree} {
    if (settings.gpu) gpu_ = read_gpu(*settings.gpu, "gpu");
    for (const auto& [op, category] : settings.modelled)
      models_.add(op, {.category = category}, [](const OpCall&) -> OrReason<Work> {
        return Reason{Reason::Kind::kFailed, "left to the caller"};
      });
    rows_.emplace(
        *trace_, *tree_,
        RowOptions{.edition = settings.reference ? Edition::kReference : Edition::kExtended,
                   .models = settings.modelled.empty() ? nullptr : &models_,
                   .gpu = gpu_ ? &*gpu_ : nullptr,
                   .communication = settings.communication,
                   .include_unlinked = settings.include_unlinked,
                   .recompute = settings.recompute});
  }

  template <class Make>
  auto ask(Make make) {
    const std::scoped_lock lock{mutex_};
    return make(*rows_);
  }

  // Events by position; throws IndexError for one that the trace does not have.
  [[nodiscard]] std::vector<EventId> events(const std::vector<std::int64_t>& positions) const {
    std::vector<EventId> events;
    events.reserve(positions.size());
    for (const std::int64_t position : positions) events.push_back(event(position));
    return events;
  }
  [[nodiscard]] EventId event(std::int64_t position) const {
    if (position < 0 || position >= static_cast<std::int64_t>(trace_->size()))
      throw py::index_error{"the trace has no event " + std::to_string(position)};
    return {static_cast<std::uint32_t>(position)};
  }
  [[nodiscard]] const Tree& tree() const { return *tree_; }

 private:
  std::shared_ptr<const Trace> trace_;
  std::shared_ptr<const Tree> tree_;
  std::optional<Gpu> gpu_;
  ModelSet models_;
  std::mutex mutex_;
  std::optional<OpRows> rows_;
};

TablePointer perf_rows(Rows& rows, const std::vector<std::int64_t>& uids, bool backward,
                       bool non_data_mov, bool arguments, bool kernels) {
  const std::vector<EventId> events = rows.events(uids);
  const py::gil_scoped_release unlocked;
  return rows.ask([&](OpRows& op) {
    return shared(op.perf(events, {.pass = backward ? Pass::kBackward : Pass::kForward,
                                   .without_data_movement = non_data_mov,
                                   .arguments = arguments,
                                   .kernels = kernels}));
  });
}

// (summed µs, busy µs, positions) of the GPU events below an event, in the order of the tree.
std::tuple<double, double, std::vector<std::uint32_t>> gpu_work(Rows& rows, std::int64_t uid) {
  const EventId event = rows.event(uid);
  const NodeId node = rows.tree().node(event);
  std::vector<std::uint32_t> below;
  if (!node.valid()) return {0, 0, below};
  for (const EventId gpu : rows.tree().gpu_events(node)) below.push_back(gpu.row);
  const std::int64_t busy_ns = rows.ask([&](OpRows& op) { return op.busy_ns(event); });
  return {static_cast<double>(rows.tree().gpu_sum_ns(node)) / 1e3,
          static_cast<double>(busy_ns) / 1e3, std::move(below)};
}

std::vector<std::uint32_t> module_children_of(const Rows& rows, std::int64_t uid) {
  std::vector<std::uint32_t> children;
  for (const EventId child : module_children(rows.tree(), rows.event(uid)))
    children.push_back(child.row);
  return children;
}

std::optional<std::uint32_t> module_parent_of(const Rows& rows, std::int64_t uid) {
  const NodeId node = rows.tree().node(rows.event(uid));
  const NodeId parent = node.valid() ? rows.tree().nearest_module(node) : NodeId{};
  if (!parent.valid()) return std::nullopt;
  return rows.tree().event(parent).row;
}

}  // namespace

void add_rows(py::module_& module) {
  module.def("kernel_durations", &kernel_durations, py::arg("cells"), py::arg("groups"),
             py::arg("count"));
  module.def("identity_codes", &identity_codes, py::arg("cells"));
  py::class_<Rows, std::shared_ptr<Rows>>(module, "Rows")
      .def(py::init([](const TreeHandle& tree, bool communication, bool include_unlinked,
                       bool recompute, bool reference, std::optional<std::string> gpu,
                       std::map<std::string, std::string> modelled) {
             const py::gil_scoped_release unlocked;
             return std::make_shared<Rows>(
                 tree, RowsSettings{communication, include_unlinked, recompute, reference,
                                    std::move(gpu), std::move(modelled)});
           }),
           py::arg("tree"), py::kw_only{}, py::arg("communication") = false,
           py::arg("include_unlinked") = false, py::arg("recompute") = false,
           py::arg("reference") = true, py::arg("gpu") = std::nullopt,
           py::arg("modelled") = std::map<std::string, std::string>{})
      .def(
          "timeline",
          [](Rows& rows, std::optional<std::int64_t> micro_idle_us) {
            const py::gil_scoped_release unlocked;
            return rows.ask([&](OpRows& op) { return shared(op.timeline(micro_idle_us)); });
          },
          py::kw_only{}, py::arg("micro_idle_us") = std::nullopt)
      .def(
          "launchers",
          [](Rows& rows, bool start, bool ids, bool kernels, bool modules) {
            const py::gil_scoped_release unlocked;
            return rows.ask([&](OpRows& op) {
              return shared(op.launchers(
                  {.start = start, .ids = ids, .kernels = kernels, .modules = modules}));
            });
          },
          py::kw_only{}, py::arg("start") = false, py::arg("ids") = false,
          py::arg("kernels") = false, py::arg("modules") = false)
      .def(
          "kernels",
          [](Rows& rows, bool launch, bool op_columns, bool in_module) {
            const py::gil_scoped_release unlocked;
            return rows.ask([&](OpRows& op) {
              return shared(op.kernels({.launch = launch, .op = op_columns, .module = in_module}));
            });
          },
          py::kw_only{}, py::arg("launch") = false, py::arg("op") = true, py::arg("module") = false)
      .def(
          "unified",
          [](Rows& rows, bool arguments, bool metrics, bool kernels, bool call_stacks,
             bool callers) {
            const py::gil_scoped_release unlocked;
            return rows.ask([&](OpRows& op) {
              return shared(op.unified({.arguments = arguments,
                                        .metrics = metrics,
                                        .kernels = kernels,
                                        .call_stacks = call_stacks,
                                        .callers = callers}));
            });
          },
          py::kw_only{}, py::arg("arguments") = true, py::arg("metrics") = true,
          py::arg("kernels") = true, py::arg("call_stacks") = false, py::arg("callers") = false)
      .def("perf", &perf_rows, py::arg("uids"), py::kw_only{}, py::arg("backward") = false,
           py::arg("non_data_mov") = false, py::arg("arguments") = false,
           py::arg("kernels") = false)
      .def(
          "modules",
          [](Rows& rows, std::int64_t uid) {
            const EventId event = rows.event(uid);
            const py::gil_scoped_release unlocked;
            return rows.ask([&](OpRows& op) { return shared(op.modules(event)); });
          },
          py::arg("uid"))
      .def("gpu_work", &gpu_work, py::arg("uid"))
      .def("module_children", &module_children_of, py::arg("uid"))
      .def("module_parent", &module_parent_of, py::arg("uid"));
}

}  // namespace tracelens::python
