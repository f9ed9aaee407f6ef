#include <tracelens/near_names.hpp>

#include <gmock/gmock.h>

namespace tracelens {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;

const std::vector<std::string> kNames = {"kernel_name", "kernel_summary", "name", "ops_summary"};

TEST(NearNames, AFewWrongLettersAndPartsAreRecognisedInAnyCase) {
  EXPECT_THAT(nearest_names("ops_sumary", kNames), ElementsAre("ops_summary"));
  EXPECT_THAT(nearest_names("Kernal_Name", kNames), ElementsAre("kernel_name", "name"));
  EXPECT_THAT(nearest_names("summary", kNames), ElementsAre("ops_summary", "kernel_summary"));
  EXPECT_THAT(nearest_names("roofline", kNames), IsEmpty());
}

TEST(NearNames, EndASentence) {
  EXPECT_EQ(did_you_mean("ops_sumary", kNames), "; did you mean ops_summary?");
  EXPECT_EQ(did_you_mean("summary", kNames), "; did you mean ops_summary, kernel_summary?");
  EXPECT_EQ(did_you_mean("roofline", kNames), "");
}

}  // namespace
}  // namespace tracelens
