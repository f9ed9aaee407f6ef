// A .pftrace and the JSON that Perfetto's converter makes of it must be the same trace. The samples
// are one per layout that rocprofv3 has had, and one for the odd corners of the format.
#include <gtest/gtest.h>

#include <string>
#include <tracelens/read_trace.hpp>
#include <tracelens/trace.hpp>
#include <vector>

namespace tracelens {
namespace {

std::string sample(const std::string& name) { return "tests/data/pftrace/" + name; }

// The details less what only the .pftrace can tell.
Value common_details(const Trace& trace, EventId event) {
  const Value details = trace.details(event);
  std::vector<std::string> keys;
  std::vector<Value> items;
  for (std::size_t i = 0; i < details.keys().size(); ++i)
    if (details.keys()[i] != "perfetto_track") {
      keys.push_back(details.keys()[i]);
      items.push_back(details.items()[i]);
    }
  return keys.empty() ? Value{} : Value::dict(std::move(keys), std::move(items));
}

std::int64_t whole_us(std::int64_t ns) { return ns == kAbsent ? kAbsent : ns / 1000; }

// Perfetto's converter has no place for slices without a category and for slices of a process.
bool is_in_json(const Trace& trace, EventId event) {
  const Phase phase = trace.phase(event);
  if (phase == Phase::kFlowStart || phase == Phase::kFlowEnd) return true;
  const bool is_of_process = trace.track(event).tid == Value{0} && phase == Phase::kComplete;
  return trace.category(event) != Category::kNone && !is_of_process;
}

class Twins : public testing::TestWithParam<const char*> {
 protected:
  Twins() {
    for (const EventId event : pftrace_.all_events())
      if (is_in_json(pftrace_, event)) common_.push_back(event);
  }

  const std::string name_ = GetParam();
  const Trace pftrace_ = read_trace(sample(name_ + ".pftrace"));
  const Trace json_ = read_trace(sample(name_ + ".json.gz"));
  std::vector<EventId> common_;  // events of the .pftrace, by row of the JSON
};

TEST_P(Twins, HaveTheSameEventsInTheSameOrder) {
  ASSERT_EQ(common_.size(), json_.size());
  for (const EventId event : json_.all_events()) {
    SCOPED_TRACE("event " + std::to_string(event.row));
    const EventId twin = common_[event.row];
    EXPECT_EQ(pftrace_.name(twin), json_.name(event));
    EXPECT_EQ(pftrace_.category(twin), json_.category(event));
    EXPECT_EQ(pftrace_.category_text(twin), json_.category_text(event));
    EXPECT_EQ(pftrace_.track(twin), json_.track(event));
    EXPECT_EQ(pftrace_.correlations()[twin.row], json_.correlations()[event.row]);
    EXPECT_EQ(pftrace_.streams().at(twin), json_.streams().at(event));
    EXPECT_EQ(pftrace_.devices().at(twin), json_.devices().at(event));
    EXPECT_EQ(common_details(pftrace_, twin), common_details(json_, event));
    for (const std::string_view what : {"thread_name", "process_name"})
      EXPECT_EQ(pftrace_.label(pftrace_.track(twin), what), json_.label(json_.track(event), what));
    // The JSON has whole microseconds where no argument says more.
    EXPECT_EQ(whole_us(pftrace_.ts_ns()[twin.row]), whole_us(json_.ts_ns()[event.row]));
  }
}

TEST_P(Twins, HaveTheSameLengths) {
  ASSERT_EQ(common_.size(), json_.size());
  for (const EventId event : json_.all_events()) {
    SCOPED_TRACE("event " + std::to_string(event.row));
    const EventId twin = common_[event.row];
    const std::int64_t dur_ns = json_.dur_ns()[event.row];
    if (json_.phase(event) != Phase::kOther) {
      EXPECT_EQ(pftrace_.phase(twin), json_.phase(event));
      EXPECT_EQ(whole_us(pftrace_.dur_ns()[twin.row]), whole_us(dur_ns));
    }
  }
}

INSTANTIATE_TEST_SUITE_P(Samples, Twins,
                         testing::Values("rocprofv3_era1", "rocprofv3_era2", "rocprofv3_era3",
                                         "features"));

// What tables are made of is exact in both forms: rocprofv3 writes its times as arguments too.
TEST(RocprofTwins, HaveTheSameTimesToTheNanosecond) {
  for (const std::string name : {"rocprofv3_era1", "rocprofv3_era2", "rocprofv3_era3"}) {
    const Trace pftrace = read_trace(sample(name + ".pftrace"));
    const Trace json = read_trace(sample(name + ".json.gz"));
    std::size_t odd = 0;
    for (const EventId event : json.all_events()) {
      if (json.phase(event) != Phase::kComplete) continue;
      EXPECT_EQ(pftrace.ts_ns()[event.row], json.ts_ns()[event.row]);
      EXPECT_EQ(pftrace.dur_ns()[event.row], json.dur_ns()[event.row]);
      odd += json.dur_ns()[event.row] % 1000 != 0 ? 1 : 0;
    }
    EXPECT_GT(odd, 20U);  // there are nanoseconds to lose
  }
}

}  // namespace
}  // namespace tracelens
