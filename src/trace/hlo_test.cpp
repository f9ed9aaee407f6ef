#include "trace/hlo.hpp"

#include <gtest/gtest.h>

#include "hlo.pb.h"

namespace tracelens::hlo {
namespace {

hlo_proto::Instruction& add(hlo_proto::Computation& computation, const char* name,
                            const char* opcode, std::int64_t id) {
  hlo_proto::Instruction& made = *computation.add_instructions();
  made.set_name(name);
  made.set_opcode(opcode);
  made.set_id(id);
  made.mutable_shape()->set_element_type(16);  // bf16
  made.mutable_shape()->add_dimensions(8);
  return made;
}

hlo_proto::HloProto small_module() {
  hlo_proto::HloProto proto;
  hlo_proto::Module& module = *proto.mutable_hlo_module();
  module.set_name("jit_f");
  module.set_entry_computation_id(7);
  hlo_proto::Computation& entry = *module.add_computations();
  entry.set_id(7);
  entry.set_root_id((std::int64_t{7} << 32) + 2);
  // Ids as JAX 0.8 packs them: computation and number.
  add(entry, "p", "parameter", (std::int64_t{7} << 32) + 1);
  hlo_proto::Instruction& negate = add(entry, "negate.1", "negate", (std::int64_t{7} << 32) + 2);
  negate.add_operand_ids((std::int64_t{7} << 32) + 1);
  negate.add_operand_ids(99);  // not there
  negate.mutable_metadata()->set_op_name("jit(f)/neg");
  negate.mutable_metadata()->set_stack_frame_id(1);
  hlo_proto::StackFrames& frames = *module.mutable_stack_frame_index();
  frames.add_file_names("/home/user/model.py");
  auto& location = *frames.add_file_locations();
  location.set_file_name_id(1);
  location.set_line(31);
  frames.add_stack_frames()->set_file_location_id(1);
  return proto;
}

TEST(Hlo, OperandsAreFoundByWideIdsAndMissingOnesAreMarked) {
  const auto module = decode(small_module().SerializeAsString());
  ASSERT_TRUE(module);
  const Instruction* const negate = module->find("negate.1");
  ASSERT_NE(negate, nullptr);
  EXPECT_EQ(negate->operands, (std::vector<std::uint32_t>{0, kNone}));
  EXPECT_EQ(module->computations[module->entry].root, 1u);
  EXPECT_EQ(module->find("none"), nullptr);
}

TEST(Hlo, TheSourceLineComesFromTheStackFrameWhenTheInstructionHasNone) {
  const auto module = decode(small_module().SerializeAsString());
  EXPECT_EQ(origin_text(*module->find("negate.1")), "jit(f)/neg, model.py:31");
  EXPECT_EQ(origin_text(*module->find("p")), "");
}

TEST(Hlo, AShapeKnowsItsTextAndSize) {
  const Shape array{.type = {16}, .dims = {8, 512}, .minor_to_major = {1, 0}, .parts = {}};
  EXPECT_EQ(array.text(), "bf16[8,512]{1,0}");
  EXPECT_EQ(array.bytes(), 2.0 * 8 * 512);
  const Shape nibbles{.type = {21}, .dims = {10}, .minor_to_major = {}, .parts = {}};  // s4
  EXPECT_EQ(nibbles.bytes(), 5);
  const Shape token{.type = {17}, .dims = {}, .minor_to_major = {}, .parts = {}};
  EXPECT_EQ(token.bytes(), std::nullopt);
  const Shape tuple{.type = kTuple, .dims = {}, .minor_to_major = {}, .parts = {array, array}};
  EXPECT_EQ(tuple.bytes(), 4.0 * 8 * 512);
  EXPECT_EQ(tuple.text(), "(bf16[8,512]{1,0}, bf16[8,512]{1,0})");
  EXPECT_EQ(&tuple.first_array(), &tuple.parts.front());
}

TEST(Hlo, ReplicaGroupsAreTextAsInHloHoweverTheyAreStored) {
  hlo_proto::HloProto proto = small_module();
  hlo_proto::Computation& entry = *proto.mutable_hlo_module()->mutable_computations(0);
  for (const std::vector<std::int64_t>& ids : {std::vector<std::int64_t>{0, 1}, {2, 3}}) {
    auto& group = *(entry.instructions_size() == 2 ? &add(entry, "listed", "all-reduce", 3)
                                                   : entry.mutable_instructions(2))
                       ->add_replica_groups();
    for (const std::int64_t id : ids) group.add_replica_ids(id);
  }
  auto& iota = *add(entry, "iota", "all-gather", 4).mutable_iota_collective_device_list();
  iota.set_num_replica_groups(4);
  iota.set_num_devices_per_group(2);
  for (const int dim : {2, 4}) iota.add_iota_reshape_dims(dim);
  for (const int axis : {1, 0}) iota.add_iota_transpose_perm(axis);
  auto& plain = *add(entry, "plain", "all-gather", 5)
                     .mutable_collective_device_list()
                     ->mutable_iota_replica_group_list();
  plain.set_num_replica_groups(4);
  plain.set_num_devices_per_group(8);
  auto& pair = *add(entry, "ring", "collective-permute", 6).add_source_target_pairs();
  pair.set_source(3);
  pair.set_target(1);
  const auto module = decode(proto.SerializeAsString());
  EXPECT_EQ(module->find("listed")->replica_groups, "{{0,1},{2,3}}");
  EXPECT_EQ(module->find("iota")->replica_groups, "[4,2]<=[2,4]T(1,0)");
  EXPECT_EQ(module->find("plain")->replica_groups, "[4,8]<=[4,8]");
  EXPECT_EQ(module->find("ring")->source_target_pairs, "{{3,1}}");
  EXPECT_EQ(module->find("iota")->group_size, 2);
  EXPECT_EQ(module->find("p")->replica_groups, "");
}

TEST(Hlo, ConstantsOfOneElementAreTexts) {
  hlo_proto::HloProto proto = small_module();
  hlo_proto::Computation& entry = *proto.mutable_hlo_module()->mutable_computations(0);
  std::int64_t id = 3;
  const auto literal = [&](const char* name) -> hlo_proto::Literal& {
    return *add(entry, name, "constant", id++).mutable_literal();
  };
  literal("half").add_f32s(0.5F);
  literal("big").add_u64s(~std::uint64_t{0});
  literal("least").set_bf16s(std::string{"\x80\xff", 2});
  literal("f16").set_f16s(std::string{"\x00\xc1", 2});
  literal("small f16").set_f16s(std::string{"\x01\x00", 2});
  literal("s16").set_s16s(std::string{"\xfe\xff", 2});
  literal("s8").set_s8s("\xff");
  literal("yes").add_preds(true);
  hlo_proto::Literal& weights = literal("weights");
  for (const float weight : {1.5F, 2.5F}) weights.add_f32s(weight);
  literal("odd").set_bf16s("x");
  const auto module = decode(proto.SerializeAsString());
  EXPECT_EQ(module->find("half")->literal, "0.5");
  EXPECT_EQ(module->find("big")->literal, "18446744073709551615");
  EXPECT_EQ(module->find("least")->literal, "-inf");
  EXPECT_EQ(module->find("f16")->literal, "-2.5");
  EXPECT_EQ(module->find("small f16")->literal, "5.960464477539063e-08");
  EXPECT_EQ(module->find("s16")->literal, "-2");
  EXPECT_EQ(module->find("s8")->literal, "-1");
  EXPECT_EQ(module->find("yes")->literal, "true");
  EXPECT_EQ(module->find("weights")->literal, "");
  EXPECT_EQ(module->find("odd")->literal, "");
}

TEST(Hlo, AttributesOfOpcodesAreRead) {
  hlo_proto::HloProto proto = small_module();
  hlo_proto::Computation& entry = *proto.mutable_hlo_module()->mutable_computations(0);
  auto& slice = *add(entry, "slice", "slice", 3).add_slice_dimensions();
  slice.set_start(1);
  slice.set_limit(7);
  slice.set_stride(2);
  auto& pad = *add(entry, "pad", "pad", 4).mutable_padding_config()->add_dimensions();
  pad.set_edge_padding_low(-1);
  pad.set_edge_padding_high(2);
  pad.set_interior_padding(3);
  hlo_proto::Instruction& gather = add(entry, "gather", "gather", 5);
  gather.add_gather_slice_sizes(4);
  gather.mutable_gather_dimension_numbers()->add_start_index_map(1);
  gather.mutable_gather_dimension_numbers()->set_index_vector_dim(2);
  add(entry, "compare", "compare", 6).set_comparison_direction("LT");
  const auto module = decode(proto.SerializeAsString());
  EXPECT_EQ(module->find("slice")->slice.at(0).limit, 7);
  EXPECT_EQ(module->find("pad")->padding.at(0).interior, 3);
  EXPECT_EQ(module->find("gather")->slice_sizes, std::vector<std::int64_t>{4});
  EXPECT_EQ(module->find("gather")->indexing->start_index_map, std::vector<std::int64_t>{1});
  EXPECT_EQ(module->find("gather")->indexing->index_vector, 2);
  EXPECT_EQ(module->find("compare")->comparison, "LT");
  EXPECT_FALSE(module->find("compare")->indexing);
}

TEST(Hlo, AConfigurationIsReadWhereverItIsKept) {
  hlo_proto::HloProto proto = small_module();
  hlo_proto::Module& source = *proto.mutable_hlo_module();
  hlo_proto::Computation& entry = *source.mutable_computations(0);
  for (const char* const payload : {"first", "second"}) source.add_payloads(payload);
  add(entry, "in the instruction", "custom-call", 3).set_backend_config("old");
  add(entry, "in a payload", "custom-call", 4).mutable_backend_config_payload()->set_value("own");
  add(entry, "shared", "custom-call", 5).mutable_backend_config_payload()->set_id(1);
  add(entry, "first", "custom-call", 6).mutable_backend_config_payload()->set_id(0);
  add(entry, "not there", "custom-call", 7).mutable_backend_config_payload()->set_id(2);
  add(entry, "negative", "custom-call", 8).mutable_backend_config_payload()->set_id(-1);
  const auto module = decode(proto.SerializeAsString());
  EXPECT_EQ(module->find("in the instruction")->backend_config, "old");
  EXPECT_EQ(module->find("in a payload")->backend_config, "own");
  EXPECT_EQ(module->find("shared")->backend_config, "second");
  EXPECT_EQ(module->find("first")->backend_config, "first");
  EXPECT_EQ(module->find("not there")->backend_config, "");
  EXPECT_EQ(module->find("negative")->backend_config, "");
}

TEST(Hlo, BytesThatAreNoModuleGiveNone) { EXPECT_FALSE(decode("\xff\xff\xff")); }

}  // namespace
}  // namespace tracelens::hlo
