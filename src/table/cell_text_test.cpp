#include <tracelens/json.hpp>
#include <tracelens/table_text.hpp>

#include <gtest/gtest.h>

#include <limits>
#include <memory>
#include <string>
#include <utility>
#include <vector>

namespace tracelens {
namespace {

constexpr double kInf = std::numeric_limits<double>::infinity();

std::string json(const Value& value) {
  std::string out;
  append_json(out, value);
  return out;
}

std::string quoted(std::string text) { return python_repr(Value{std::move(text)}); }

std::string csv(std::string_view text) {
  std::string out;
  append_csv_text(out, text);
  return out;
}

// A column with one cell.
template <class T>
Table one_cell(Kind kind, T cell) {
  const ColumnSpec columns[] = {{"c", kind, "", ""}};
  Table table{"t", "", columns};
  table.add_row(std::move(cell));
  return table;
}

template <class T>
std::string plain(Kind kind, T cell) {
  return plain_text(one_cell(kind, std::move(cell)).columns()[0], 0);
}

template <class T>
std::string json_cell(Kind kind, T cell) {
  std::string out;
  append_json_cell(out, one_cell(kind, std::move(cell)).columns()[0], 0);
  return out;
}

TEST(Value, CopiesShareWhatTheyHoldAndAValueIsSmall) {
  const Value list = Value::list({"a long text that is not kept in place", 2});
  const Value copy = list;  // NOLINT(performance-unnecessary-copy-initialization)
  EXPECT_EQ(&copy.items(), &list.items());
  EXPECT_EQ(copy, Value::list({"a long text that is not kept in place", 2}));
  const auto keys =
      std::make_shared<const std::vector<std::string>>(std::vector<std::string>{"name", "stream"});
  const Value one = Value::dict_of(keys, {"a", 7}), two = Value::dict_of(keys, {"b", 7});
  EXPECT_EQ(&one.keys(), &two.keys());
  EXPECT_EQ(one, Value::dict({"name", "stream"}, {"a", 7}));
  EXPECT_NE(one, two);
  EXPECT_NE(Value::list({}), Value::tuple({}));
  EXPECT_LE(sizeof(Value), 24u);  // a cell of a table lists ten of them for each kernel
}

TEST(PythonRepr, TuplesListsAndDictsPrintAsPythonDoes) {
  EXPECT_EQ(python_repr(Value::tuple({Value::tuple({8, 4}), Value::tuple({})})), "((8, 4), ())");
  EXPECT_EQ(python_repr(Value::tuple({8})), "(8,)");
  EXPECT_EQ(python_repr(Value::list({8})), "[8]");
  EXPECT_EQ(python_repr(Value::list({})), "[]");
  EXPECT_EQ(python_repr(Value::dict({"name", "stream"}, {"x", 7})), "{'name': 'x', 'stream': 7}");
  EXPECT_EQ(python_repr(Value::dict({}, {})), "{}");
}

TEST(PythonRepr, ScalarsPrintAsPythonDoes) {
  EXPECT_EQ(python_repr(Value{}), "None");
  EXPECT_EQ(python_repr(Value{true}), "True");
  EXPECT_EQ(python_repr(Value{false}), "False");
  EXPECT_EQ(python_repr(Value{std::numeric_limits<std::int64_t>::min()}), "-9223372036854775808");
  EXPECT_EQ(python_repr(Value{12.0}), "12.0");
  EXPECT_EQ(python_repr(Value{1e-5}), "1e-05");
  EXPECT_EQ(python_repr(Value{1.5e16}), "1.5e+16");
  EXPECT_EQ(python_repr(Value{-kInf}), "-inf");
}

TEST(PythonRepr, QuotesAreChosenToNeedTheFewestEscapes) {
  EXPECT_EQ(quoted("a"), "'a'");
  EXPECT_EQ(quoted("it's"), "\"it's\"");
  EXPECT_EQ(quoted("say \"hi\""), "'say \"hi\"'");
  EXPECT_EQ(quoted("it's \"hi\""), "'it\\'s \"hi\"'");
}

TEST(PythonRepr, BackslashAndWhatDoesNotPrintIsEscaped) {
  EXPECT_EQ(quoted("a\\b\n\r\t"), R"('a\\b\n\r\t')");
  EXPECT_EQ(quoted(std::string{"\0\x1b\x7f", 3}), R"('\x00\x1b\x7f')");
  EXPECT_EQ(quoted("\u00a0\u00ad"), R"('\xa0\xad')");
  EXPECT_EQ(quoted("\u200b\u2028\ufeff"), R"('\u200b\u2028\ufeff')");
  EXPECT_EQ(quoted("\U000e0001"), R"('\U000e0001')");
  EXPECT_EQ(quoted("µs … 日本 🚀"), "'µs … 日本 🚀'");
}

TEST(PythonRepr, InvalidBytesPrintAsPythonsSurrogates) {
  EXPECT_EQ(quoted("a\xff\xc3"), R"('a\udcff\udcc3')");
}

TEST(NestedText, DepthDoesNotUseTheStack) {
  constexpr std::size_t kDepth = 1'000;
  Value value = Value::list({});
  for (std::size_t i = 1; i < kDepth; ++i) {
    std::vector<Value> items;
    items.push_back(std::move(value));
    value = Value::list(std::move(items));
  }
  const std::string expected = std::string(kDepth, '[') + std::string(kDepth, ']');
  EXPECT_EQ(python_repr(value), expected);
  EXPECT_EQ(json(value), expected);
}

TEST(PlainText, EachKindHasOneForm) {
  EXPECT_EQ(plain(Kind::kText, "a 'b'"), "a 'b'");
  EXPECT_EQ(plain(Kind::kInteger, -50), "-50");
  EXPECT_EQ(plain(Kind::kReal, 50), "50.0");
  EXPECT_EQ(plain(Kind::kReal, 1e16), "1e+16");
  EXPECT_EQ(plain(Kind::kReal, kInf), "inf");
  EXPECT_EQ(plain(Kind::kBool, true), "True");
  EXPECT_EQ(plain(Kind::kBool, kMissing), "");
  EXPECT_EQ(plain(Kind::kReal, kMissing), "");
  EXPECT_EQ(plain(Kind::kNested, Value::tuple({1})), "(1,)");
}

TEST(PlainText, TopLevelTextOfANestedCellHasNoQuotes) {
  EXPECT_EQ(plain(Kind::kNested, "it's"), "it's");
}

TEST(PlainText, InvalidBytesAreReplaced) { EXPECT_EQ(plain(Kind::kText, "a\xff"), "a\ufffd"); }

TEST(PlainText, HasNoMoreBytesThanForeseen) {
  const auto expect_room = [](Kind kind, auto cell) {
    const Table table = one_cell(kind, std::move(cell));
    const Table::Column& column = table.columns()[0];
    EXPECT_GE(most_plain_bytes(column, 0), plain_text(column, 0).size()) << plain_text(column, 0);
  };
  expect_room(Kind::kInteger, std::numeric_limits<std::int64_t>::min());
  expect_room(Kind::kReal, -1.2345678901234567e-300);
  expect_room(Kind::kBool, false);
  expect_room(Kind::kText, std::string(9, '\xff'));
  expect_room(Kind::kNested, std::string(9, '\xff'));
  const Value texts =
      Value::list({std::string(9, '\xff'), std::string(9, '\x1b'), "\u0378\U000E0001", "'\"'\"\\\n",
                   Value::tuple({Value{}, 1e-300, true})});
  expect_room(Kind::kNested, texts);
  expect_room(Kind::kNested, Value::dict({std::string(9, '\xff'), ""}, {texts, Value::tuple({7})}));
}

TEST(CsvText, OnlyCommasQuotesAndLineBreaksNeedQuotes) {
  EXPECT_EQ(csv("a b;'c'"), "a b;'c'");
  EXPECT_EQ(csv("a,b"), "\"a,b\"");
  EXPECT_EQ(csv("a\"b"), "\"a\"\"b\"");
  EXPECT_EQ(csv("a\nb"), "\"a\nb\"");
  EXPECT_EQ(csv("a\rb"), "\"a\rb\"");
  EXPECT_EQ(csv(""), "");
}

TEST(JsonText, EscapesWhatRfc8259Asks) {
  EXPECT_EQ(json(Value{"a\"\\\n\t/"}), R"("a\"\\\n\t/")");
  EXPECT_EQ(json(Value{std::string{"\0\x1f", 2}}), R"("\u0000\u001f")");
  EXPECT_EQ(json(Value{"µ\xff"}), "\"µ\ufffd\"");
}

TEST(JsonText, NestedValuesAreRealJson) {
  const Value value =
      Value::dict({"dims", "ok", "x"}, {Value::tuple({8, 4.0}), true, Value::list({Value{}})});
  EXPECT_EQ(json(value), R"({"dims": [8, 4.0], "ok": true, "x": [null]})");
}

TEST(JsonText, WhatIsNotANumberIsNull) {
  EXPECT_EQ(json_cell(Kind::kReal, kInf), "null");
  EXPECT_EQ(json_cell(Kind::kReal, kMissing), "null");
  EXPECT_EQ(json(Value{-kInf}), "null");
}

TEST(JsonText, CellsKeepTheirKind) {
  EXPECT_EQ(json_cell(Kind::kReal, 1e-5), "1e-05");
  EXPECT_EQ(json_cell(Kind::kInteger, 7), "7");
  EXPECT_EQ(json_cell(Kind::kBool, false), "false");
  EXPECT_EQ(json_cell(Kind::kText, "7"), "\"7\"");
  EXPECT_EQ(json_cell(Kind::kNested, Value::tuple({7})), "[7]");
}

}  // namespace
}  // namespace tracelens
