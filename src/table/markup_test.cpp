#include "table/markup.hpp"

#include <gtest/gtest.h>

namespace tracelens {
namespace {

TEST(Markup, NothingOfATextIsMarkup) {
  EXPECT_EQ(as_markup("f<a, b>(\"c\" & d)"), "f&lt;a, b&gt;(&quot;c&quot; &amp; d)");
  EXPECT_EQ(as_markup("two\nlines\tµ"), "two lines µ");
}

TEST(Markup, WhatXmlForbidsIsReplaced) {
  EXPECT_EQ(as_markup("a\x01\x1b\x7f\uffff\ufffe\xff"), "a\ufffd\ufffd\ufffd\ufffd\ufffd\ufffd");
  EXPECT_EQ(as_markup(std::string_view{"\0", 1}), "\ufffd");
}

}  // namespace
}  // namespace tracelens
