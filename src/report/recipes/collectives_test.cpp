#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <stdexcept>
#include <tracelens/collectives.hpp>
#include <tracelens/error.hpp>

namespace tracelens {
namespace {

using testing::ElementsAre;

// One of two processes; the other one hands over `from_other`.
class OneOfTwo : public Peers {
 public:
  OneOfTwo(int index, std::string from_other) : index_{index}, from_other_{std::move(from_other)} {}
  [[nodiscard]] int index() const override { return index_; }
  [[nodiscard]] int count() const override { return 2; }
  [[nodiscard]] std::string broadcast(std::string bytes) override { return bytes; }
  [[nodiscard]] std::vector<std::string> gather(std::string bytes) override {
    handed_over.push_back(bytes);
    if (index_ != 0) return {};
    return {std::move(bytes), from_other_};
  }
  [[noreturn]] void abandon() override { throw std::logic_error{"abandoned"}; }

  std::vector<std::string> handed_over;

 private:
  int index_;
  std::string from_other_;
};

const std::vector<RankFile> kFiles{{"nowhere/rank0.json", 0}, {"nowhere/rank1.json", 1}};

// Fails in the middle of reading, as a process without memory does.
CollectiveReportOptions failing() {
  CollectiveReportOptions options;
  options.threads = 1;
  options.on_progress = [](std::size_t, std::size_t) { throw std::runtime_error{"no more"}; };
  return options;
}

std::string error_of(const CollectiveReportOptions& options, Peers& peers) {
  try {
    static_cast<void>(make_collective_report(kFiles, options, &peers));
  } catch (const Error& error) {
    return error.what();
  }
  return "no error";
}

TEST(CollectiveReportOfProcesses, TheFirstTellsWhatWentWrongInAnother) {
  OneOfTwo first{0, "!not enough memory"};
  EXPECT_EQ(error_of({}, first), "process 1: not enough memory");
}

TEST(CollectiveReportOfProcesses,
     OneThatFailsStillHandsSomethingOverAndLeavesTheTellingToTheFirst) {
  OneOfTwo other{1, ""};
  EXPECT_EQ(error_of(failing(), other), "no error");
  EXPECT_THAT(other.handed_over, ElementsAre("!no more"));
}

TEST(CollectiveReportOfProcesses, TheFirstFailsAfterTheOthersHandedOver) {
  OneOfTwo first{0, "!other"};
  EXPECT_EQ(error_of(failing(), first), "process 0: no more");
  EXPECT_THAT(first.handed_over, ElementsAre("!no more"));
}

}  // namespace
}  // namespace tracelens
