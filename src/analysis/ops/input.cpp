#include "analysis/ops/input.hpp"

namespace tracelens {
namespace {

const ColumnSpec kRecompute{"is_recompute", Kind::kBool, "",
                            "done again in the backward pass by activation checkpointing"};
const ColumnSpec kOverlapNames{"overlapping_kernel_names", Kind::kNested, "",
                               "kernels of other streams that ran at the same time"};

}  // namespace

OpInput::OpInput(const TraceFacts& facts, const OpTableOptions& a_options)
    : trace{facts.trace()},
      tree{facts.tree()},
      options{a_options},
      launches{facts, perf::ModelSet{options.edition, options.own_models}},
      models{trace, launches, perf::ModelSet{options.edition, options.own_models}},
      ops{trace, tree, launches, models} {
  if (options.split_recompute) recompute = mark_recompute(trace, tree);
  if (options.overlap) overlaps.emplace(facts, launches, options.include_unlinked);
}

void add_call_columns(std::vector<ColumnSpec>& columns, bool with_overlap) {
  columns.push_back({"name", Kind::kText, "", "op name as traced"});
  if (with_overlap) columns.push_back(kOverlapNames);
  columns.insert(columns.end(),
                 {{"op category", Kind::kText, "", "what kind of work the op does"},
                  {"process_name", Kind::kText, "", "process the op ran in"},
                  {"process_label", Kind::kText, "", "label of that process"},
                  {"thread_name", Kind::kText, "", "thread the op ran on"},
                  {"Input Dims", Kind::kNested, "", "shapes of the arguments"},
                  {"Input type", Kind::kNested, "", "element types of the arguments"},
                  {"Input Strides", Kind::kNested, "", "strides of the arguments, in elements"},
                  {"Concrete Inputs", Kind::kNested, "", "values of the scalar arguments"}});
}

void add_call_cells(RowCells& row, OpInput& input, std::string_view name, EventId event,
                    std::uint32_t category, const OverlapFields* overlap) {
  row.add(name);
  if (overlap != nullptr) row.add(input.overlaps->names(overlap->names));
  row.add(input.launches.categories().text(category));
  TrackNames& tracks = input.launches.track_names();
  const TrackNames::Names& names = tracks.names(tracks.id_of(input.trace.tracks()[event.row]));
  row.add(names.process);
  row.add(names.process_label);
  row.add(names.thread);
  const SignatureId id = input.trace.signatures()[event.row];
  static const Signature kNoArguments;
  const Signature& call = id.valid() ? input.trace.signature(id) : kNoArguments;
  row.add(call.dims);
  row.add(call.types);
  row.add(call.strides);
  row.add(call.concrete);
}

void add_recompute_column(std::vector<ColumnSpec>& columns, const OpInput& input) {
  if (input.recompute) columns.push_back(kRecompute);
}

void add_kernel_columns(std::vector<ColumnSpec>& columns, const char* cell_name) {
  columns.push_back({cell_name, Kind::kNested, "",
                     "GPU work of each call by position: count and durations over the group"});
  columns.push_back({"trunc_kernel_details", Kind::kNested, "",
                     "the same in short: name, stream, mean duration"});
}

void add_overlap_detail_columns(std::vector<ColumnSpec>& columns, const char* cell_name) {
  columns.push_back({cell_name, Kind::kNested, "",
                     "kernels that ran at the same time, with durations over the group"});
  columns.push_back({"trunc_overlapping_kernels_details", Kind::kNested, "",
                     "the same in short: name, stream, mean duration"});
  add_overlap_columns(columns);
}

}  // namespace tracelens
