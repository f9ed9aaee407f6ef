// From the protobuf to plain structs. Ids become positions; what a module does not say stays empty.
// Shapes nest as deep as the protobuf parser lets them (100 levels), so copying them may recurse.
#include <fmt/format.h>
#include <google/protobuf/arena.h>

#include <bit>
#include <cmath>
#include <limits>
#include <unordered_map>
#include <utility>

#include "hlo.pb.h"
#include "trace/hlo.hpp"

namespace tracelens::hlo {
namespace {

template <class List>
std::vector<std::int64_t> numbers(const List& list) {
  return {list.begin(), list.end()};
}

Shape shape_of(const hlo_proto::Shape& proto) {
  Shape shape;
  shape.type = {proto.element_type()};
  shape.dims = numbers(proto.dimensions());
  shape.minor_to_major = numbers(proto.layout().minor_to_major());
  shape.parts.reserve(static_cast<std::size_t>(proto.tuple_shapes_size()));
  for (const hlo_proto::Shape& part : proto.tuple_shapes()) shape.parts.push_back(shape_of(part));
  return shape;
}

DotDims dot_of(const hlo_proto::Dot& proto) {
  return {.lhs_contracting = numbers(proto.lhs_contracting_dimensions()),
          .rhs_contracting = numbers(proto.rhs_contracting_dimensions()),
          .lhs_batch = numbers(proto.lhs_batch_dimensions()),
          .rhs_batch = numbers(proto.rhs_batch_dimensions())};
}

ConvDims conv_of(const hlo_proto::Convolution& proto) {
  return {.kernel_input_feature = proto.kernel_input_feature_dimension(),
          .kernel_output_feature = proto.kernel_output_feature_dimension(),
          .input_batch = proto.input_batch_dimension(),
          .input_feature = proto.input_feature_dimension(),
          .output_batch = proto.output_batch_dimension(),
          .output_feature = proto.output_feature_dimension(),
          .kernel_spatial = numbers(proto.kernel_spatial_dimensions()),
          .input_spatial = numbers(proto.input_spatial_dimensions()),
          .output_spatial = numbers(proto.output_spatial_dimensions())};
}

std::vector<WindowDim> window_of(const hlo_proto::Window& proto) {
  std::vector<WindowDim> window;
  for (const auto& dim : proto.dimensions())
    window.push_back({.size = dim.size(),
                      .stride = dim.stride(),
                      .base_dilation = dim.base_dilation(),
                      .window_dilation = dim.window_dilation(),
                      .padding_low = dim.padding_low(),
                      .padding_high = dim.padding_high(),
                      .is_reversed = dim.window_reversal()});
  return window;
}

IndexDims indexing_of(const hlo_proto::Indexing& proto) {
  return {.offset = numbers(proto.offset_dims()),
          .collapsed = numbers(proto.collapsed_slice_dims()),
          .start_index_map = numbers(proto.start_index_map()),
          .operand_batch = numbers(proto.operand_batching_dims()),
          .indices_batch = numbers(proto.start_indices_batching_dims()),
          .index_vector = proto.index_vector_dim()};
}

// Half precision with five bits of exponent.
double half_value(unsigned bits) {
  const int exponent = static_cast<int>(bits >> 10 & 31);
  const double fraction = (bits & 1023) / 1024.0;
  double size = exponent == 0 ? std::ldexp(fraction, -14) : std::ldexp(1 + fraction, exponent - 15);
  if (exponent == 31) size = fraction == 0 ? HUGE_VAL : NAN;
  return (bits & 0x8000) != 0 ? -size : size;
}

// The value of a constant of one element. All else that is constant stays in the profile.
std::string literal_of(const hlo_proto::Literal& proto) {
  const auto is_one = [](const auto& list) { return std::size(list) == 1; };
  const auto two_bytes = [](const std::string& text) {
    return static_cast<unsigned>(static_cast<unsigned char>(text[0])) |
           static_cast<unsigned>(static_cast<unsigned char>(text[1])) << 8;
  };
  if (is_one(proto.preds())) return proto.preds(0) ? "true" : "false";
  if (is_one(proto.s32s())) return fmt::format("{}", proto.s32s(0));
  if (is_one(proto.s64s())) return fmt::format("{}", proto.s64s(0));
  if (is_one(proto.u32s())) return fmt::format("{}", proto.u32s(0));
  if (is_one(proto.u64s())) return fmt::format("{}", proto.u64s(0));
  if (is_one(proto.f32s())) return fmt::format("{}", proto.f32s(0));
  if (is_one(proto.f64s())) return fmt::format("{}", proto.f64s(0));
  if (is_one(proto.u8s())) return fmt::format("{}", static_cast<unsigned char>(proto.u8s()[0]));
  if (is_one(proto.s8s())) return fmt::format("{}", static_cast<signed char>(proto.s8s()[0]));
  if (proto.u16s().size() == 2) return fmt::format("{}", two_bytes(proto.u16s()));
  if (proto.s16s().size() == 2)
    return fmt::format("{}", static_cast<std::int16_t>(two_bytes(proto.s16s())));
  if (proto.f16s().size() == 2) return fmt::format("{}", half_value(two_bytes(proto.f16s())));
  if (proto.bf16s().size() == 2)  // the upper half of a float
    return fmt::format("{}", std::bit_cast<float>(two_bytes(proto.bf16s()) << 16));
  return {};
}

// What only some opcodes have and a replay needs.
void set_attributes(const hlo_proto::Instruction& proto, Instruction& out) {
  if (proto.feature_group_count() > 0) out.feature_groups = proto.feature_group_count();
  if (proto.batch_group_count() > 0) out.batch_groups = proto.batch_group_count();
  for (const auto& dim : proto.slice_dimensions())
    out.slice.push_back({.start = dim.start(), .limit = dim.limit(), .stride = dim.stride()});
  out.slice_sizes = numbers(proto.dynamic_slice_sizes());
  for (const auto& dim : proto.padding_config().dimensions())
    out.padding.push_back({.low = dim.edge_padding_low(),
                           .high = dim.edge_padding_high(),
                           .interior = dim.interior_padding()});
  if (proto.has_gather_dimension_numbers()) {
    out.indexing = indexing_of(proto.gather_dimension_numbers());
    out.slice_sizes = numbers(proto.gather_slice_sizes());
  }
  if (proto.has_scatter_dimension_numbers())
    out.indexing = indexing_of(proto.scatter_dimension_numbers());
  out.comparison = proto.comparison_direction();
  out.exponent_bits = proto.exponent_bits();
  out.mantissa_bits = proto.mantissa_bits();
  out.precision = numbers(proto.precision_config().operand_precision());
  out.literal = literal_of(proto.literal());
}

std::string text_of(const hlo_proto::IotaDeviceList& iota) {
  const std::int64_t groups = iota.num_replica_groups(), size = iota.num_devices_per_group();
  std::string text = fmt::format("[{},{}]<=[", groups, size);
  if (iota.iota_reshape_dims().empty())
    text += fmt::format("{},{}]", groups, size);
  else
    text += fmt::format("{}]", fmt::join(iota.iota_reshape_dims(), ","));
  if (!iota.iota_transpose_perm().empty())
    text += fmt::format("T({})", fmt::join(iota.iota_transpose_perm(), ","));
  return text;
}

// XLA has written replica groups in three ways over the years.
void set_groups(const hlo_proto::Instruction& proto, Instruction& out) {
  const hlo_proto::DeviceList& list = proto.collective_device_list();
  for (const auto* const groups : {&proto.replica_groups(), &list.replica_groups()}) {
    if (groups->empty() || groups->Get(0).replica_ids_size() == 0) continue;
    out.group_size = groups->Get(0).replica_ids_size();
    for (const hlo_proto::ReplicaGroup& group : *groups)
      out.replica_groups.append(out.replica_groups.empty() ? "{{" : ",{")
          .append(fmt::format("{}", fmt::join(group.replica_ids(), ",")))
          .append("}");
    out.replica_groups += "}";
    return;
  }
  for (const auto* const iota :
       {&list.iota_replica_group_list(), &proto.iota_collective_device_list()}) {
    if (iota->num_devices_per_group() <= 0) continue;
    out.group_size = iota->num_devices_per_group();
    out.replica_groups = text_of(*iota);
    return;
  }
  for (const hlo_proto::SourceTarget& pair : proto.source_target_pairs())
    out.source_target_pairs += fmt::format(
        "{}{{{},{}}}", out.source_target_pairs.empty() ? "{" : ",", pair.source(), pair.target());
  if (!out.source_target_pairs.empty()) out.source_target_pairs += "}";
}

// Old files name the line in each instruction, new ones refer to a table of stack frames.
void set_source(const hlo_proto::Metadata& metadata, const hlo_proto::StackFrames& frames,
                Instruction& out) {
  out.source_file = metadata.source_file();
  out.source_line = metadata.source_line();
  if (!out.source_file.empty()) return;
  const auto in_table = [](int id, int size) { return id >= 1 && id <= size; };
  if (!in_table(metadata.stack_frame_id(), frames.stack_frames_size())) return;
  const int location = frames.stack_frames(metadata.stack_frame_id() - 1).file_location_id();
  if (!in_table(location, frames.file_locations_size())) return;
  const auto& place = frames.file_locations(location - 1);
  if (!in_table(place.file_name_id(), frames.file_names_size())) return;
  out.source_file = frames.file_names(place.file_name_id() - 1);
  out.source_line = place.line();
}

// New modules keep configurations as payloads, which instructions may share.
const std::string& backend_config_of(const hlo_proto::Instruction& proto,
                                     const hlo_proto::Module& module) {
  const hlo_proto::Payload& payload = proto.backend_config_payload();
  if (payload.has_value()) return payload.value();
  if (payload.has_id() && payload.id() >= 0 && payload.id() < module.payloads_size())
    return module.payloads(static_cast<int>(payload.id()));
  return proto.backend_config();
}

using Positions = std::unordered_map<std::int64_t, std::uint32_t>;

std::uint32_t position(const Positions& positions, std::int64_t id) {
  const auto found = positions.find(id);
  return found == positions.end() ? kNone : found->second;
}

Instruction instruction_of(const hlo_proto::Instruction& proto, const Positions& instructions,
                           const Positions& computations, const hlo_proto::Module& module) {
  Instruction out;
  out.name = proto.name();
  out.opcode = proto.opcode();
  out.shape = shape_of(proto.shape());
  for (const std::int64_t id : proto.operand_ids())
    out.operands.push_back(position(instructions, id));
  for (const std::int64_t id : proto.called_computation_ids())
    out.calls.push_back(position(computations, id));
  out.parameter = proto.parameter_number();
  out.tuple_index = proto.tuple_index();
  out.dimensions = numbers(proto.dimensions());
  out.target = proto.custom_call_target();
  out.backend_config = backend_config_of(proto, module);
  if (proto.has_dot_dimension_numbers()) out.dot = dot_of(proto.dot_dimension_numbers());
  if (proto.has_convolution_dimension_numbers())
    out.conv = conv_of(proto.convolution_dimension_numbers());
  out.window = window_of(proto.window());
  set_attributes(proto, out);
  set_groups(proto, out);
  out.op_type = proto.metadata().op_type();
  out.op_name = proto.metadata().op_name();
  out.deduplicated_name = proto.metadata().deduplicated_name();
  out.scheduling_name = proto.metadata().scheduling_name();
  set_source(proto.metadata(), module.stack_frame_index(), out);
  return out;
}

}  // namespace

std::optional<Module> decode(std::string_view bytes) {
  if (bytes.size() > static_cast<std::size_t>(std::numeric_limits<int>::max())) return std::nullopt;
  google::protobuf::Arena arena;
  auto* const proto = google::protobuf::Arena::CreateMessage<hlo_proto::HloProto>(&arena);
  if (!proto->ParseFromArray(bytes.data(), static_cast<int>(bytes.size()))) return std::nullopt;
  const hlo_proto::Module& source = proto->hlo_module();

  Module module;
  module.name = source.name();
  Positions computations;
  for (int i = 0; i < source.computations_size(); ++i)
    computations.emplace(source.computations(i).id(), static_cast<std::uint32_t>(i));
  module.entry = position(computations, source.entry_computation_id());
  for (const hlo_proto::Computation& from : source.computations()) {
    Positions instructions;
    for (int i = 0; i < from.instructions_size(); ++i)
      instructions.emplace(from.instructions(i).id(), static_cast<std::uint32_t>(i));
    Computation& to = module.computations.emplace_back();
    to.name = from.name();
    to.root = position(instructions, from.root_id());
    for (const hlo_proto::Instruction& instruction : from.instructions()) {
      const Place place{static_cast<std::uint32_t>(module.computations.size() - 1),
                        static_cast<std::uint32_t>(to.instructions.size())};
      to.instructions.push_back(instruction_of(instruction, instructions, computations, source));
      module.places_.emplace(instruction.name(), place);
    }
    const auto& sequences = source.schedule().sequences();
    if (const auto order = sequences.find(from.id()); order != sequences.end())
      for (const std::int64_t id : order->second.instruction_ids())
        if (const std::uint32_t at = position(instructions, id); at != kNone)
          to.schedule.push_back(at);
  }
  return module;
}

}  // namespace tracelens::hlo
