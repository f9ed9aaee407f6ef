#include <tracelens/arrow.hpp>

#include <gtest/gtest.h>

#include <array>
#include <cstring>
#include <memory>
#include <string>
#include <string_view>
#include <tracelens/error.hpp>
#include <tracelens/trace_builder.hpp>
#include <utility>
#include <vector>

namespace tracelens {
namespace {

// What a consumer does, by the letter of the specification.
class Reader {
 public:
  explicit Reader(ArrowArrayStream& stream) : stream_{stream} {
    EXPECT_EQ(stream_.get_schema(&stream_, &schema), 0);
  }
  ~Reader() {
    if (array.release != nullptr) array.release(&array);
    schema.release(&schema);
    stream_.release(&stream_);
    EXPECT_EQ(schema.release, nullptr);
    EXPECT_EQ(stream_.release, nullptr);
  }
  bool next() {
    if (array.release != nullptr) array.release(&array);
    EXPECT_EQ(stream_.get_next(&stream_, &array), 0);
    return array.release != nullptr;
  }
  [[nodiscard]] static bool is_there(const ArrowArray& column, std::size_t row) {
    const auto* const bits = static_cast<const std::uint8_t*>(column.buffers[0]);
    return bits == nullptr || ((bits[row / 8] >> (row % 8)) & 1) != 0;
  }
  template <class Offset>
  [[nodiscard]] static std::string text(const ArrowArray& column, std::size_t row) {
    const auto* const offsets = static_cast<const Offset*>(column.buffers[1]);
    return {static_cast<const char*>(column.buffers[2]) + offsets[row],
            static_cast<std::size_t>(offsets[row + 1] - offsets[row])};
  }
  ArrowSchema schema = {};
  ArrowArray array = {};

 private:
  ArrowArrayStream& stream_;
};

TEST(Arrow, TableGivesOneBatchWithNullsWhereCellsAreMissing) {
  const ColumnSpec columns[] = {{"name", Kind::kText, "", ""},
                                {"time", Kind::kReal, "ms", "how long"},
                                {"calls", Kind::kInteger, "", ""},
                                {"new", Kind::kBool, "", ""},
                                {"dims", Kind::kNested, "", ""}};
  auto table = std::make_shared<Table>("ops", "", columns);
  table->add_row("mm", 1.5, 3, true, Value::tuple({8, 4}));
  table->add_row(kMissing, kMissing, kMissing, kMissing, kMissing);
  table->add_row("\xff", 2.5, 4, false, Value{"x"});
  const std::weak_ptr<const Table> alive = table;

  ArrowArrayStream stream;
  export_table(std::move(table), &stream);
  {
    Reader reader{stream};
    ASSERT_EQ(reader.schema.n_children, 5);
    const std::array formats = {"U", "g", "l", "b", "U"};
    for (std::size_t i = 0; i < formats.size(); ++i)
      EXPECT_STREQ(reader.schema.children[i]->format, formats[i]);
    // Two pairs; the first is unit = ms: count, length, "unit", length, "ms".
    const char* const metadata = reader.schema.children[1]->metadata;
    EXPECT_EQ((std::string_view{metadata + 8, 4}), "unit");
    EXPECT_EQ((std::string_view{metadata + 16, 2}), "ms");

    ASSERT_TRUE(reader.next());
    EXPECT_EQ(reader.array.length, 3);
    ArrowArray** const got = reader.array.children;
    for (int i = 0; i < 5; ++i) {
      EXPECT_EQ(got[i]->null_count, 1);
      EXPECT_FALSE(Reader::is_there(*got[i], 1));
    }
    EXPECT_EQ(Reader::text<std::int64_t>(*got[0], 0), "mm");
    EXPECT_EQ(Reader::text<std::int64_t>(*got[0], 2), "\xef\xbf\xbd");  // repaired
    EXPECT_EQ(static_cast<const double*>(got[1]->buffers[1])[2], 2.5);
    EXPECT_EQ(static_cast<const std::int64_t*>(got[2]->buffers[1])[2], 4);
    EXPECT_EQ(*static_cast<const std::uint8_t*>(got[3]->buffers[1]), 1);
    EXPECT_EQ(Reader::text<std::int64_t>(*got[4], 0), "[8, 4]");
    EXPECT_FALSE(reader.next());
    EXPECT_FALSE(alive.expired());
  }
  EXPECT_TRUE(alive.expired());  // the last release lets it go
}

TEST(Arrow, PartsOutliveTheStreamThatGaveThem) {
  const ColumnSpec columns[] = {{"n", Kind::kInteger, "", ""}};
  auto table = std::make_shared<Table>("t", "", columns);
  table->add_row(7);
  const std::weak_ptr<const Table> alive = table;
  ArrowArrayStream stream;
  export_table(std::move(table), &stream);
  ArrowArray array;
  ASSERT_EQ(stream.get_next(&stream, &array), 0);
  stream.release(&stream);
  ArrowArray child = *array.children[0];  // moved out, as consumers do
  array.children[0]->release = nullptr;
  array.release(&array);
  EXPECT_EQ(*static_cast<const std::int64_t*>(child.buffers[1]), 7);
  EXPECT_FALSE(alive.expired());
  child.release(&child);
  EXPECT_TRUE(alive.expired());
}

TEST(Arrow, AnEmptyTableHasASchemaAndNoBatch) {
  ArrowArrayStream stream;
  export_table(std::make_shared<Table>("t", "", std::span<const ColumnSpec>{}), &stream);
  Reader reader{stream};
  EXPECT_EQ(reader.schema.n_children, 0);
  EXPECT_FALSE(reader.next());
}

constexpr std::uint32_t kEvents = 70'000;  // two batches

std::shared_ptr<const Trace> two_batches(bool with_other_category) {
  TraceBuilder builder;
  const StringId unused = builder.intern("no event is called this");
  const StringId name = builder.intern("gemm"), other = builder.intern("mine");
  EXPECT_NE(unused, name);
  const TrackId track = builder.intern(Track{0, "seven"});
  for (std::uint32_t i = 0; i < kEvents; ++i) {
    const bool is_last = i + 1 == kEvents;
    const EventId event = builder.append(
        {.phase = Phase::kComplete,
         .category = is_last && with_other_category ? Category::kOtherCategory : Category::kKernel,
         .name = name,
         .track = track,
         .ts_ns = i,
         .dur_ns = is_last ? kAbsent : 5});
    if (is_last && with_other_category) builder.set_category_text(event, other);
    if (is_last) builder.set_stream(event, 7);
  }
  return std::make_shared<const Trace>(std::move(builder).finish());
}

TEST(Arrow, EventsComeInBatchesOverTheTracesOwnMemory) {
  std::shared_ptr<const Trace> trace = two_batches(false);
  const Trace& kept = *trace;
  const std::weak_ptr<const Trace> alive = trace;
  ArrowArrayStream stream;
  export_events(std::move(trace), {"ts_ns", "dur_ns", "name", "cat", "track", "stream"}, &stream);
  {
    Reader reader{stream};
    ASSERT_TRUE(reader.next());
    EXPECT_EQ(reader.array.length, 65'536);
    EXPECT_EQ(reader.array.children[0]->buffers[1], kept.ts_ns().data());
    ASSERT_TRUE(reader.next());
    ArrowArray** const got = reader.array.children;
    const std::size_t last = kEvents - 65'536 - 1;
    EXPECT_EQ(reader.array.length, std::int64_t{last + 1});
    EXPECT_EQ(got[0]->buffers[1], kept.ts_ns().data() + 65'536);
    EXPECT_EQ(got[1]->null_count, 1);
    EXPECT_FALSE(Reader::is_there(*got[1], last));
    const std::uint32_t code = static_cast<const std::uint32_t*>(got[2]->buffers[1])[last];
    EXPECT_EQ(Reader::text<std::int32_t>(*got[2]->dictionary, code), "gemm");
    EXPECT_EQ(Reader::text<std::int32_t>(*got[2]->dictionary, 0), "");  // not the name of an event
    const std::uint8_t category = static_cast<const std::uint8_t*>(got[3]->buffers[1])[last];
    EXPECT_EQ(Reader::text<std::int32_t>(*got[3]->dictionary, category), "kernel");
    EXPECT_EQ(Reader::text<std::int32_t>(*got[4]->dictionary, 0), "0/seven");
    EXPECT_EQ(got[5]->null_count, std::int64_t{last});
    EXPECT_EQ(static_cast<const std::int64_t*>(got[5]->buffers[1])[last], 7);
    EXPECT_FALSE(reader.next());
  }
  EXPECT_TRUE(alive.expired());
}

TEST(Arrow, CategoriesThatOnlyTheTraceKnowsKeepTheirTexts) {
  ArrowArrayStream stream;
  export_events(two_batches(true), {"cat"}, &stream);
  Reader reader{stream};
  EXPECT_STREQ(reader.schema.children[0]->format, "I");
  ASSERT_TRUE(reader.next() && reader.next());
  const ArrowArray& got = *reader.array.children[0];
  const auto* const codes = static_cast<const std::uint32_t*>(got.buffers[1]);
  EXPECT_EQ(Reader::text<std::int32_t>(*got.dictionary, codes[0]), "kernel");
  EXPECT_EQ(Reader::text<std::int32_t>(*got.dictionary, codes[got.length - 1]), "mine");
}

TEST(Arrow, EveryColumnIsNamedAndNoOther) {
  const std::shared_ptr<const Trace> trace = two_batches(false);
  std::vector<std::string> all;
  for (const std::string_view name : event_columns()) all.emplace_back(name);
  ArrowArrayStream stream;
  export_events(trace, all, &stream);
  const Reader reader{stream};
  ASSERT_EQ(static_cast<std::size_t>(reader.schema.n_children), all.size());
  for (std::size_t i = 0; i < all.size(); ++i) EXPECT_EQ(reader.schema.children[i]->name, all[i]);
  EXPECT_THROW(export_events(trace, {"colour"}, &stream), Error);
}

}  // namespace
}  // namespace tracelens
