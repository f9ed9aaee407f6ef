#include "analysis/ops/group_columns.hpp"

#include <cmath>

namespace tracelens {

void OpGroupRow::start(EventId first_event, NodeId first_node, std::uint32_t first_category) {
  name = input.trace.name(first_event);
  event = first_event;
  node = first_node;
  category = first_category;
  kernels.clear();
  partners.clear();
  overlap = nullptr;
  overlap_shares.clear();
}

void OpGroupRow::add_overlap(const OverlapFields& fields) {
  if (overlap == nullptr) overlap = &fields;
  partners.add(fields.partners);
  if (fields.share) overlap_shares.push_back(*fields.share);
}

const TrackNames::Names& OpGroupRow::track() const {
  TrackNames& tracks = input.tracks;
  return tracks.names(tracks.id_of(input.trace.tracks()[event.row]));
}

const Signature& OpGroupRow::arguments() const {
  static const Signature kNoArguments;
  const SignatureId id = input.trace.signatures()[event.row];
  return id.valid() ? input.trace.signature(id) : kNoArguments;
}

Value OpGroupRow::overlap_names() const { return input.overlaps->names(overlap->names); }

Value OpGroupRow::kernel_cell() {
  if (kernels.is_left_out()) ++input.rows_without_kernels;
  return kernels.cell(stacks);
}

Value OpGroupRow::partner_cell() {
  if (partners.is_left_out()) ++input.rows_without_kernels;
  return partners.cell();
}

GroupStats rounded_stats(std::vector<double>& shares) {
  GroupStats stats = stats_of(shares);
  if (stats.mean && !stats.std) stats.std = 0;
  for (const Stat& stat : kAllStats)
    if (auto& value = stats.*stat.value) value = std::nearbyint(*value * 100) / 100;
  return stats;
}

}  // namespace tracelens
