// kernel_rows.cpp: one row per kernel, with what launched it.
#include <unordered_map>

#include "analysis/gpu/kernels.hpp"
#include "analysis/rows/op_cells.hpp"
#include "analysis/rows/tables.hpp"

namespace tracelens {
namespace {

// An op or a module with GPU work below it.
struct Above {
  EventId event;
  std::int64_t busy_ns = 0, kernels = 0;
};

struct KernelCells {
  SingleOp op;  // the nearest above; its event is invalid when there is none
  const KernelRow* kernel = nullptr;
  const Above* busy_op = nullptr;  // null: none
  const Above* module = nullptr;

  // What is asked of the op, where there is one.
  template <class Of>
  [[nodiscard]] Cell of_op(Of of) const {
    return busy_op == nullptr ? Cell{Missing{}} : Cell{of(op)};
  }
  [[nodiscard]] std::optional<std::string> name_of(EventId event) const {
    if (!event.valid()) return std::nullopt;
    return std::string{op.input.trace.name(event)};
  }
};

std::optional<std::int64_t> position_of(EventId event) {
  return event.valid() ? std::optional{std::int64_t{event.row}} : std::nullopt;
}

std::optional<double> busy_us(const Above* above) {
  return above == nullptr ? std::nullopt : std::optional{us(above->busy_ns)};
}

std::optional<std::int64_t> kernel_count(const Above* above) {
  return above == nullptr ? std::nullopt : std::optional{above->kernels};
}

// A single kernel is all of the time, even when that is nothing.
std::optional<double> share(const KernelRow& kernel, const Above* above) {
  if (above == nullptr) return std::nullopt;
  return above->kernels == 1 ? 100.0 : percent_of(kernel.dur_ns, above->busy_ns);
}

void add_op_columns(ColumnSet<KernelCells>& columns, bool when) {
  using Row = KernelCells;
  columns.add(
      {{{"Parent cpu_op UID", Kind::kInteger, "id", "the nearest op above: position in the trace"},
        [](const Row& row) { return position_of(row.kernel->op); },
        when},
       {{"Parent cpu_op", Kind::kText, "", "its name"},
        [](const Row& row) { return row.name_of(row.kernel->op); },
        when},
       {{"Input dims", Kind::kNested, "", "shapes of its arguments"},
        [](const Row& row) { return row.of_op([](auto& op) { return op.arguments().dims; }); },
        when},
       {{"Input types", Kind::kNested, "", "element types of its arguments"},
        [](const Row& row) { return row.of_op([](auto& op) { return op.arguments().types; }); },
        when},
       {{"Input strides", Kind::kNested, "", "strides of its arguments, in elements"},
        [](const Row& row) { return row.of_op([](auto& op) { return op.arguments().strides; }); },
        when},
       {{"Concrete Inputs", Kind::kNested, "", "values of its scalar arguments"},
        [](const Row& row) { return row.of_op([](auto& op) { return op.arguments().concrete; }); },
        when},
       {{"kernel_file", Kind::kNested, "", "where the compiler wrote the code it runs"},
        [](const Row& row) {
          return row.of_op([](auto& op) { return op.cells.detail(op.event, "kernel_file"); });
        },
        when},
       {{"Parent cpu_op busy time (µs)", Kind::kReal, "µs", "GPU time of all kernels below it"},
        [](const Row& row) { return busy_us(row.busy_op); },
        when},
       {{"Parent cpu_op kernel count", Kind::kInteger, "", "GPU events below it"},
        [](const Row& row) { return kernel_count(row.busy_op); },
        when},
       {{"Percent of Parent cpu_op busy time (%)", Kind::kReal, "%",
         "the kernel's duration in that time"},
        [](const Row& row) { return share(*row.kernel, row.busy_op); },
        when},
       {{"Parent op category", Kind::kText, "", "what kind of work the op does"},
        [](const Row& row) {
          return row.of_op([&](auto&) { return std::string{row.kernel->op_category}; });
        },
        when}});
}

void add_module_columns(ColumnSet<KernelCells>& columns, bool when) {
  using Row = KernelCells;
  columns.add({{{"Parent nn.Module UID", Kind::kInteger, "id",
                 "the nearest nn.Module above: position in the trace"},
                [](const Row& row) {
                  return row.module == nullptr ? std::nullopt : position_of(row.module->event);
                },
                when},
               {{"Parent nn.Module", Kind::kText, "", "its name"},
                [](const Row& row) {
                  return row.module == nullptr ? std::nullopt : row.name_of(row.module->event);
                },
                when},
               {{"Parent nn.Module kernel count", Kind::kInteger, "", "GPU events below it"},
                [](const Row& row) { return kernel_count(row.module); },
                when},
               {{"Parent nn.Module GPU busy time (µs)", Kind::kReal, "µs",
                 "GPU time of all kernels below it"},
                [](const Row& row) { return busy_us(row.module); },
                when},
               {{"Percent of Parent nn.Module busy time (%)", Kind::kReal, "%",
                 "the kernel's duration in that time"},
                [](const Row& row) { return share(*row.kernel, row.module); },
                when}});
}

ColumnSet<KernelCells> columns_of(bool launch, bool op, bool module) {
  using Row = KernelCells;
  ColumnSet<Row> columns{
      {{"UID", Kind::kInteger, "id", "position in the trace"},
       [](const Row& row) { return std::int64_t{row.kernel->event.row}; }},
      {{"Kernel name", Kind::kText, "", "kernel name as traced"},
       [](const Row& row) { return row.op.input.trace.text(row.kernel->name); }},
      {{"Kernel t start", Kind::kReal, "µs", "start, by the trace's clock"},
       [](const Row& row) { return exact_us(row.op.input.trace.ts_ns()[row.kernel->event.row]); }},
      {{"Kernel duration (µs)", Kind::kReal, "µs", "how long it ran"},
       [](const Row& row) { return us(row.kernel->dur_ns); }},
      {{"Kernel stream", Kind::kInteger, "id", "stream it ran on"},
       [](const Row& row) {
         return row.kernel->stream == kAbsent ? std::nullopt : std::optional{row.kernel->stream};
       }},
      {{"Launcher UID", Kind::kInteger, "id", "the call that launched it: position in the trace"},
       [](const Row& row) { return position_of(row.kernel->launch); },
       launch},
      {{"Launcher", Kind::kText, "", "its name"},
       [](const Row& row) { return row.name_of(row.kernel->launch); },
       launch},
      {{"Grid", Kind::kNested, "", "blocks of threads, where the call says so"},
       [](const Row& row) { return row.op.cells.detail(row.kernel->launch, "grid"); },
       launch},
      {{"Block", Kind::kNested, "", "threads of a block, where the call says so"},
       [](const Row& row) { return row.op.cells.detail(row.kernel->launch, "block"); },
       launch}};
  add_op_columns(columns, op);
  add_module_columns(columns, module);
  return columns;
}

// Of nodes above kernels, each found out once.
class AboveKernels {
 public:
  explicit AboveKernels(const OpInput& input) : input_{input} {}
  const Above* at(NodeId node) {
    if (!node.valid()) return nullptr;
    const auto [entry, added] = nodes_.try_emplace(node.row);
    if (added)
      entry->second = {input_.tree.event(node), input_.launches.busy_ns(node),
                       input_.tree.gpu_count(node)};
    return &entry->second;
  }

 private:
  const OpInput& input_;
  std::unordered_map<std::uint32_t, Above> nodes_;
};

}  // namespace

Table kernel_rows(const TraceFacts& facts, OpInput& input, OpCells& cells,
                  const KernelColumns& columns) {
  const Tree& tree = input.tree;
  AboveKernels above{input};
  const KernelRows kernels = collect_kernels(facts, input.run_models);
  const auto module_of = [&](const KernelRow& kernel) {
    const NodeId node = tree.node(kernel.event);
    return node.valid() ? tree.nearest_module(node) : NodeId{};
  };
  bool any_launch = false, any_op = false, any_module = false;
  for (const KernelRow& kernel : kernels) {
    any_launch |= kernel.launch.valid();
    any_op |= kernel.op.valid();
    any_module = any_module || (columns.module && module_of(kernel).valid());
  }
  ColumnSet<KernelCells> set =
      columns_of(columns.launch && any_launch, columns.op && any_op, any_module);
  Table table = set.make_table("kernels", "Every kernel, in the order of the trace");
  for (const KernelRow& kernel : kernels) {
    KernelCells row{{input, cells, kernel.op}, &kernel};
    if (columns.op && kernel.op.valid()) row.busy_op = above.at(tree.node(kernel.op));
    if (any_module) row.module = above.at(module_of(kernel));
    set.append(table, row);
  }
  return table;
}

}  // namespace tracelens
