#include "analysis/diff/findings.hpp"

#include <algorithm>
#include <map>

#include "tree/time_math.hpp"

namespace tracelens {
namespace {

bool goes(Direction direction, std::int64_t difference_ns) {
  return direction == Direction::kSlower ? difference_ns > 0 : difference_ns < 0;
}

}  // namespace

DiffFindings::DiffFindings(std::span<const OpChange> changes,
                           std::span<const Substitution> exchanges)
    : changes_{changes}, exchanges_{exchanges} {
  for (const OpChange& change : changes_)
    for (const std::size_t side : {0U, 1U}) gpu_ns_[side] = plus_ns(gpu_ns_[side], change.ns[side]);
}

bool DiffFindings::is_identical() const {
  return exchanges_.empty() && std::ranges::all_of(changes_, [](const OpChange& change) {
           return change.verdict == ChangeVerdict::kSame;
         });
}

bool DiffFindings::stands_out(const std::array<std::int64_t, 2>& ns) const {
  return is_notable(static_cast<double>(ns[0]), static_cast<double>(ns[1]),
                    static_cast<double>(std::max(gpu_ns_[0], gpu_ns_[1])));
}

bool DiffFindings::counts(const OpChange& change) const {
  switch (change.verdict) {
    case ChangeVerdict::kSame:
    case ChangeVerdict::kNoise:
      return false;
    case ChangeVerdict::kSlower:
    case ChangeVerdict::kFaster:
      return true;
    case ChangeVerdict::kGone:
      return stands_out(change.ns) && std::ranges::all_of(exchanges_, [](const Substitution& each) {
               return each.removed.empty();
             });
    case ChangeVerdict::kNew:
      return stands_out(change.ns) && std::ranges::all_of(exchanges_, [](const Substitution& each) {
               return each.added.empty();
             });
    case ChangeVerdict::kUnknown:
      break;
  }
  return stands_out(change.ns);
}

const OpChange* DiffFindings::largest(Direction direction) const {
  const auto found = std::ranges::find_if(changes_, [&](const OpChange& change) {
    return goes(direction, change.difference_ns()) && counts(change);
  });
  return found == changes_.end() ? nullptr : &*found;
}

const Substitution* DiffFindings::largest_exchange(Direction direction) const {
  const auto found = std::ranges::find_if(exchanges_, [&](const Substitution& each) {
    return goes(direction, each.difference_ns()) && stands_out(each.ns);
  });
  return found == exchanges_.end() ? nullptr : &*found;
}

std::optional<DiffFindings::Cost> DiffFindings::costliest_op(std::size_t side) const {
  std::map<std::string_view, std::int64_t> by_name;
  for (const OpChange& change : changes_) {
    std::int64_t& ns = by_name[change.name];
    ns = plus_ns(ns, change.ns[side]);
  }
  const auto top =
      std::ranges::max_element(by_name, {}, [](const auto& entry) { return entry.second; });
  if (top == by_name.end() || top->second <= 0) return std::nullopt;
  return Cost{std::string{top->first}, top->second};
}

}  // namespace tracelens
