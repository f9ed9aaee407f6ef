// idle_ledger.hpp: sums up idle time by what the host was doing, one line for each state and name.
//   IdleLedger ledger{trace, false};
//   ledger.charge(gap, state, name, time);
//   for (const IdleCharge& line : std::move(ledger).take()) ...     // in order of appearance
// What is charged in another ledger meanwhile can be added later: the sums are those of one.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <string>
#include <string_view>
#include <tracelens/intervals.hpp>
#include <tracelens/trace.hpp>
#include <unordered_map>
#include <vector>

#include "analysis/gpu/idle_state.hpp"
#include "tree/time_math.hpp"

namespace tracelens {

// The idle time of one line of gpu_idle_host.
struct IdleCharge {
  HostState state;
  StringId name;  // invalid: no name
  std::int64_t ns = 0, longest_ns = 0;
  std::int64_t gaps = 0;
  std::size_t last_gap = std::numeric_limits<std::size_t>::max();
  std::int64_t ns_of_last_gap = 0;
};

// What most of a gap is charged to.
struct GapHost {
  HostState state;
  StringId name;  // invalid: no name
  std::int64_t ns = 0;
};

// "<built-in method mul_ of Tensor object at 0x7f4ddba08410>": the address tells nothing.
[[nodiscard]] std::string without_address(std::string_view name);

class IdleLedger {
 public:
  // `keeps_shares`: those of single gaps, for largest_shares().
  IdleLedger(const Trace& trace, bool keeps_shares)
      : trace_{trace},
        shared_names_(trace.string_count()),
        first_of_name_(trace.string_count() + 1, kNone),
        keeps_shares_{keeps_shares} {}

  void charge(std::size_t gap, HostState state, StringId name, Interval time) {
    if (time.start >= time.end) return;
    if (name.valid()) name = shared_name(name);
    const std::uint32_t line = line_of(state, name);
    IdleCharge& charge = charges_[line];
    if (charge.last_gap != gap) {
      if (charge.gaps == 0) first_gaps_[line].gap = gap;
      if (charge.gaps == 1) first_gaps_[line].ns = charge.ns_of_last_gap;
      charge.last_gap = gap;
      charge.ns_of_last_gap = 0;
      ++charge.gaps;
    }
    const std::int64_t ns = length(time);
    if (keeps_shares_) shares_.push_back({gap, line, ns});
    charge.ns = plus_ns(charge.ns, ns);
    charge.ns_of_last_gap = plus_ns(charge.ns_of_last_gap, ns);
    charge.longest_ns = std::max(charge.longest_ns, charge.ns_of_last_gap);
  }
  // What was charged there, as if it were charged here now. Of a ledger that nothing was added to.
  void add(const IdleLedger& other);

  [[nodiscard]] bool keeps_shares() const { return keeps_shares_; }
  [[nodiscard]] std::vector<GapHost> largest_shares(std::size_t gaps);  // one for each gap
  [[nodiscard]] std::vector<IdleCharge> take() && { return std::move(charges_); }

 private:
  static constexpr std::uint32_t kNone = std::numeric_limits<std::uint32_t>::max();
  struct FirstGap {
    std::size_t gap = 0;
    std::int64_t ns = 0;  // once there is a second
  };
  struct Share {
    std::size_t gap;
    std::uint32_t charge;
    std::int64_t ns;
  };

  // A name has one line for each state that it was met in; those are few.
  [[nodiscard]] std::uint32_t line_of(HostState state, StringId name) {
    std::uint32_t* place = &first_of_name_[name.valid() ? name.row : first_of_name_.size() - 1];
    while (*place != kNone) {
      if (charges_[*place].state == state) return *place;
      place = &next_of_name_[*place];
    }
    const auto line = static_cast<std::uint32_t>(charges_.size());
    *place = line;
    add_line(state, name);
    return line;
  }
  void add_line(HostState state, StringId name);

  // The first of all names that differ only in an address.
  [[nodiscard]] StringId shared_name(StringId name) {
    StringId& shared = shared_names_[name.row];
    if (!shared.valid()) shared = first_with_text_of(name);
    return shared;
  }
  [[nodiscard]] StringId first_with_text_of(StringId name);

  const Trace& trace_;
  std::vector<StringId> shared_names_;  // by StringId; invalid: not met yet
  std::unordered_map<std::string, StringId> first_by_text_;
  std::vector<std::uint32_t> first_of_name_;  // lines by StringId, without a name last; kNone: none
  std::vector<std::uint32_t> next_of_name_;   // by line
  std::vector<IdleCharge> charges_;           // the lines
  std::vector<FirstGap> first_gaps_;          // by line
  bool keeps_shares_;
  std::vector<Share> shares_;
};

}  // namespace tracelens
