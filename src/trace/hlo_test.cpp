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

TEST(Hlo, BytesThatAreNoModuleGiveNone) { EXPECT_FALSE(decode("\xff\xff\xff")); }

}  // namespace
}  // namespace tracelens::hlo
