#include "table/markup.hpp"

#include <gtest/gtest.h>

namespace tracelens {
namespace {

TEST(Markup, AnAllowedTextKeepsItsLines) {
  EXPECT_EQ(escaped("a<b> & \"c\"\n'd'"), "a&lt;b&gt; &amp; &quot;c&quot;\n'd'");
  EXPECT_EQ(escaped(""), "");
}

TEST(Markup, NothingOfATextIsMarkup) {
  EXPECT_EQ(as_markup("f<a, b>(\"c\" & d)"), "f&lt;a, b&gt;(&quot;c&quot; &amp; d)");
  EXPECT_EQ(as_markup("two\nlines\tµ"), "two lines µ");
}

TEST(Markup, WhatXmlForbidsIsReplaced) {
  EXPECT_EQ(as_markup("a\x01\x1b\x7f\uffff\ufffe\xff"), "a\ufffd\ufffd\ufffd\ufffd\ufffd\ufffd");
  EXPECT_EQ(as_markup(std::string_view{"\0", 1}), "\ufffd");
}

TEST(Markdown, NamesAreNoLinksImagesOrHtml) {
  EXPECT_EQ(as_markdown("![x](http://a.b/c.png)"), "![x\\](http\\://a.b/c.png)");
  EXPECT_EQ(as_markdown("[x][y] www.a.b <img src=x>"), "[x\\][y] www\\.a.b \\<img src=x>");
  EXPECT_EQ(as_markdown("a|b `c` *d* ~~e~~ $f$ &lt; me@x.y #12 \\"),
            "a\\|b \\`c\\` \\*d\\* \\~\\~e\\~\\~ \\$f\\$ \\&lt; me\\@x.y \\#12 \\\\");
  EXPECT_EQ(as_markdown("a\nb\r\x1b"), "a b \ufffd");
  for (const char* const name :
       {"aten::layer_norm", "((8, 4), [2])", "f(float const&, int)", "a.b"})
    EXPECT_EQ(as_markdown(name), name);
}

}  // namespace
}  // namespace tracelens
