#include "analysis/gpu/idle_ledger.hpp"

#include <gtest/gtest.h>

#include <random>
#include <tuple>

#include "tree/test_trace.hpp"

namespace tracelens {
namespace {

using Line = std::tuple<HostState, StringId, std::int64_t, std::int64_t, std::int64_t>;

std::vector<Line> lines_of(IdleLedger ledger) {
  std::vector<Line> lines;
  for (const IdleCharge& charge : std::move(ledger).take())
    lines.emplace_back(charge.state, charge.name, charge.ns, charge.longest_ns, charge.gaps);
  return lines;
}

// Gaps come back, also across the end of a part; names differ in addresses.
TEST(IdleLedger, PartsAddUpToTheWhole) {
  TestTrace t;
  for (const char* const name : {"a at 0x1", "b", "a at 0x2", "c", "b at 0xf"}) t.op(name, 0, 1);
  const Trace trace = t.finish();
  constexpr HostState kStates[] = {
      {Host::kOp, IdleCause::kOpDispatch}, {Host::kPython, IdleCause::kPython}, {}};
  std::mt19937 random{2};
  const auto below = [&](std::size_t most) { return static_cast<std::size_t>(random() % most); };
  for (int round = 0; round < 2000; ++round) {
    IdleLedger whole{trace, true}, sum{trace, true};
    std::size_t gap = 0;
    for (std::size_t parts = 1 + below(5); parts > 0; --parts) {
      IdleLedger part{trace, true};
      for (std::size_t charges = below(12); charges > 0; --charges) {
        if (below(3) == 0) gap = below(4);
        const HostState state = kStates[below(3)];
        const StringId name =
            below(5) == 0 ? StringId{} : trace.names()[below(trace.names().size())];
        const Interval time{0, static_cast<std::int64_t>(below(9))};
        whole.charge(gap, state, name, time);
        part.charge(gap, state, name, time);
      }
      sum.add(part);
    }
    const std::vector<GapHost> expected = whole.largest_shares(4), found = sum.largest_shares(4);
    for (std::size_t i = 0; i < expected.size(); ++i) {
      ASSERT_EQ(found[i].ns, expected[i].ns);
      ASSERT_EQ(found[i].state, expected[i].state);
      ASSERT_EQ(found[i].name, expected[i].name);
    }
    ASSERT_EQ(lines_of(sum), lines_of(whole));
  }
}

}  // namespace
}  // namespace tracelens
