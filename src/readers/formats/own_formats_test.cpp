#include <gtest/gtest.h>

#include <algorithm>
#include <fstream>
#include <iterator>
#include <tracelens/error.hpp>
#include <tracelens/reader.hpp>

namespace tracelens {
namespace {

// "name start length", a line each.
void read_log(ByteSource& in, TraceBuilder& out, const ReadOptions&) {
  std::string line;
  if (!read_line(in, line)) throw Error{in.name(), "no first line"};
  while (read_line(in, line))
    out.append({.phase = Phase::kComplete, .name = out.intern(line), .ts_ns = 0, .dur_ns = 1});
}

class SlowSource final : public ByteSource {
 public:
  explicit SlowSource(std::string bytes) : bytes_{std::move(bytes)} {}
  [[nodiscard]] std::string name() const override { return "slow"; }
  std::size_t read(std::span<char> into) override {
    const std::size_t got = bytes_.copy(into.data(), std::min<std::size_t>(into.size(), 7), at_);
    at_ += got;
    return got;
  }

 private:
  std::string bytes_;
  std::size_t at_ = 0;
};

TEST(OwnFormats, ARegisteredFormatIsReadAndNamed) {
  register_format({.name = "test log",
                   .looks_like = [](std::string_view head) { return head.starts_with("#log"); },
                   .read = read_log});
  const std::string text = "#log\na\r\nb";
  const Trace trace = read_trace_bytes("run.log", {text.data(), text.size()});
  ASSERT_EQ(trace.size(), 2u);
  EXPECT_EQ(trace.name({0}), "a");
  EXPECT_EQ(trace.name({1}), "b");
  EXPECT_EQ(trace.source().format, "test log");
  EXPECT_EQ(trace.source().name, "run.log");
  EXPECT_EQ(trace.source().text_bytes, text.size());
  try {
    (void)read_trace_bytes("x", std::span{"???", 3});
    FAIL();
  } catch (const Error& error) {
    EXPECT_NE(std::string_view{error.what()}.find("known are: test log, JAX"), std::string::npos);
  }
}

TEST(OwnFormats, ASourceOfOnesOwnIsUnpackedAndReadAsAFileIs) {
  const std::string path = "tests/data/h200_gpt_train_amp.json.gz";
  std::ifstream in{path, std::ios::binary};
  SlowSource source{std::string{std::istreambuf_iterator<char>{in}, {}}};
  const Trace trace = read_trace(source), same = read_trace(path);
  EXPECT_EQ(trace.size(), same.size());
  EXPECT_GT(trace.size(), 0u);
  EXPECT_EQ(trace.source().packing, "gzip");
  EXPECT_EQ(trace.source().name, "slow");
  EXPECT_TRUE(std::ranges::equal(trace.ts_ns(), same.ts_ns()));
}

}  // namespace
}  // namespace tracelens
