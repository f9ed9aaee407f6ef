#include "trace/string_table.hpp"

#include <gtest/gtest.h>

#include <string>

namespace tracelens {
namespace {

TEST(StringTable, GivesEqualTextsOneIdInOrderOfFirstAppearance) {
  StringTable table;
  EXPECT_EQ(table.intern("b").row, 0u);
  EXPECT_EQ(table.intern("a").row, 1u);
  EXPECT_EQ(table.intern("b").row, 0u);
  EXPECT_EQ(table.intern("").row, 2u);
  EXPECT_EQ(table.text({1}), "a");
  EXPECT_EQ(table.size(), 3u);
}

TEST(StringTable, KeepsViewsValidWhileItGrowsAndAfterItIsTaken) {
  StringTable table;
  const std::string_view first = table.text(table.intern("first"));
  for (int i = 0; i < 100'000; ++i) table.intern("text number " + std::to_string(i));
  EXPECT_EQ(table.text(table.intern("text number 77")), "text number 77");
  EXPECT_EQ(table.size(), 100'001u);
  const auto texts = std::move(table).take();
  EXPECT_EQ(texts.views[0].data(), first.data());
  EXPECT_EQ(texts.views[100'000], "text number 99999");
}

TEST(StringTable, HoldsTextsLargerThanItsBlocks) {
  StringTable table;
  const std::string large(1 << 20, 'x');
  const StringId id = table.intern(large);
  EXPECT_EQ(table.intern("small").row, 1u);
  EXPECT_EQ(table.text(id), large);
}

TEST(IdIndex, TellsEntriesWithEqualHashesApart) {
  IdIndex index;
  std::vector<int> entries;
  const auto add = [&](int value) {
    return index.find_or_add(
        42, [&](std::uint32_t id) { return entries[id] == value; },
        [&] {
          entries.push_back(value);
          return static_cast<std::uint32_t>(entries.size() - 1);
        });
  };
  for (int i = 0; i < 500; ++i) EXPECT_EQ(add(i), static_cast<std::uint32_t>(i));
  EXPECT_EQ(add(123), 123u);
}

}  // namespace
}  // namespace tracelens
