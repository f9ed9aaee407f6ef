#include "readers/perfetto/args.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>

#include "perfetto.pb.h"

namespace tracelens::perfetto {
namespace {

class ArgsWriterTest : public testing::Test {
 protected:
  proto::DebugAnnotation& add(const std::string& name) {
    proto::DebugAnnotation& annotation = *event_.add_debug_annotations();
    annotation.set_name(name);
    return annotation;
  }
  std::string_view write(std::string_view track = {}) {
    return writer_.write(event_.debug_annotations(), sequence_, track);
  }

  kineto::EventParser parser_;
  Texts texts_{parser_};
  ArgsWriter writer_{texts_};
  Sequence sequence_;
  proto::TrackEvent event_;
};

TEST_F(ArgsWriterTest, EveryKindOfValueKeepsItsType) {
  add("int").set_int_value(std::numeric_limits<std::int64_t>::min());
  add("uint").set_uint_value(std::numeric_limits<std::uint64_t>::max());
  add("real").set_double_value(3);
  add("nan").set_double_value(std::nan(""));
  add("inf").set_double_value(-std::numeric_limits<double>::infinity());
  add("yes").set_bool_value(true);
  add("pointer").set_pointer_value(0xdeadbeef);
  add("text").set_string_value(std::string{"caf\u00e9 \"q\" \\ \n"});
  add("json").set_legacy_json_value(std::string{"{\"a\": [1]}"});
  add("no json").set_legacy_json_value(std::string{"{a"});
  add("none");
  EXPECT_EQ(write(),
            R"({"inf":"-Infinity","int":-9223372036854775808,"json":{"a": [1]},"nan":"NaN",)"
            R"("no json":"{a","none":null,"pointer":"0xdeadbeef","real":3.0,)"
            "\"text\":\"caf\u00e9 \\\"q\\\" \\\\ \\u000a\","
            R"("uint":18446744073709551615,"yes":true})");
}

TEST_F(ArgsWriterTest, MembersAreSortedAndTheLastOfEqualNamesWins) {
  for (int round = 0; round < 2; ++round) {  // the second time from what was remembered
    event_.Clear();
    add("b").set_int_value(1);
    add("a").set_int_value(2);
    add("b").set_int_value(3 + round);
    EXPECT_EQ(write(), round == 0 ? R"({"a":2,"b":3})" : R"({"a":2,"b":4})");
  }
}

TEST_F(ArgsWriterTest, ListsAndObjectsNest) {
  proto::DebugAnnotation& list = add("list");
  list.add_array_values()->set_int_value(1);
  list.add_array_values()->add_array_values()->set_string_value(std::string{"two"});
  proto::DebugAnnotation& inner = *list.add_array_values()->add_dict_entries();
  inner.set_name(std::string{"z"});
  inner.set_double_value(3.5);
  add("after").set_int_value(4);
  EXPECT_EQ(write(), R"({"after":4,"list":[1,["two"],{"z":3.5}]})");
}

TEST_F(ArgsWriterTest, TheOlderFormOfNestedValuesIsRead) {
  auto& nested = *add("old").mutable_nested_value();
  nested.set_nested_type(proto::DebugAnnotation::NestedValue::DICT);
  nested.add_dict_keys(std::string{"k"});
  auto& list = *nested.add_dict_values();
  list.set_nested_type(proto::DebugAnnotation::NestedValue::ARRAY);
  list.add_array_values()->set_int_value(-1);
  list.add_array_values()->set_string_value(std::string{"s"});
  EXPECT_EQ(write(), R"({"old":{"k":[-1,"s"]}})");
}

TEST_F(ArgsWriterTest, NamesAndTextsMayBeInterned) {
  sequence_.annotation_names.set(5, texts_.intern_key("a.b[0]"));
  sequence_.string_values.set(6, texts_.intern("interned"));
  proto::DebugAnnotation& annotation = *event_.add_debug_annotations();
  annotation.set_name_iid(5);
  annotation.set_string_value_iid(6);
  EXPECT_EQ(write(), R"({"a_b_0_":"interned"})");
}

TEST_F(ArgsWriterTest, WhatWasNeverInternedIsLeftOutAndCounted) {
  event_.add_debug_annotations()->set_name_iid(99);
  add("text").set_string_value_iid(99);
  add("kept").set_int_value(1);
  EXPECT_EQ(write(), R"({"kept":1})");
  EXPECT_EQ(writer_.dropped(), 2U);
}

TEST_F(ArgsWriterTest, TheTrackIsTheLastMember) {
  EXPECT_EQ(write(), "");
  EXPECT_EQ(write("STREAM 1"), R"({"perfetto_track":"STREAM 1"})");
  add("z").set_int_value(1);
  EXPECT_EQ(write("STREAM 1"), R"({"z":1,"perfetto_track":"STREAM 1"})");
}

TEST_F(ArgsWriterTest, IntegersThatAreColumnsAreNotWrittenAsText) {
  add("corr_id").set_uint_value(7);
  add("begin_ns").set_int_value(-1);
  add("grid_size").set_uint_value(64);
  add("end_ns").set_string_value("9");
  EXPECT_EQ(write(), R"({"end_ns":"9","grid_size":64})");
  ASSERT_EQ(writer_.numbers().size(), 2U);
  EXPECT_EQ(writer_.numbers()[0].arg, kineto::NumberArg::kBeginNs);
  EXPECT_EQ(writer_.numbers()[0].value, -1);
  EXPECT_EQ(writer_.numbers()[1].arg, kineto::NumberArg::kCorrId);
  EXPECT_EQ(writer_.numbers()[1].value, 7);
}

TEST_F(ArgsWriterTest, TwoNamesOfOneColumnStayInTheirOrder) {
  add("stream_ID").set_uint_value(7);
  add("stream").set_uint_value(8);
  EXPECT_EQ(write(), R"({"stream":8,"stream_ID":7})");
  EXPECT_TRUE(writer_.numbers().empty());
}

TEST_F(ArgsWriterTest, OnlyArgumentsOfTheEventItselfAreColumns) {
  proto::DebugAnnotation& inner = *add("inner").add_dict_entries();
  inner.set_name(std::string{"stream"});
  inner.set_int_value(3);
  EXPECT_EQ(write(), R"({"inner":{"stream":3}})");
  EXPECT_TRUE(writer_.numbers().empty());
}

TEST(InternedTexts, AnyNumberMayBeUsedInAnyOrder) {
  InternedTexts texts;
  texts.set(std::numeric_limits<std::uint64_t>::max(), 1);
  texts.set(1'000, 2);
  for (std::uint32_t iid = 1; iid < 900; ++iid) texts.set(iid, iid + 10);
  EXPECT_EQ(texts.find(std::numeric_limits<std::uint64_t>::max()), 1U);
  EXPECT_EQ(texts.find(1'000), 2U);
  texts.set(1'000, 3);  // now near the others
  EXPECT_EQ(texts.find(1'000), 3U);
  EXPECT_EQ(texts.find(899), 909U);
  EXPECT_EQ(texts.find(0), kNone);
  texts.clear();
  EXPECT_EQ(texts.find(1), kNone);
}

}  // namespace
}  // namespace tracelens::perfetto
