#include "analysis/gpu/idle_ledger.hpp"

#include <cctype>
#include <utility>

namespace tracelens {

std::string without_address(std::string_view name) {
  constexpr std::string_view kMark = " at 0x";
  const std::size_t at = name.find(kMark);
  if (at == name.npos) return std::string{name};
  std::size_t end = at + kMark.size();
  while (end < name.size() && std::isxdigit(static_cast<unsigned char>(name[end])) != 0) ++end;
  return std::string{name.substr(0, at)}.append(name.substr(end));
}

void IdleLedger::add(const IdleLedger& other) {
  std::vector<std::uint32_t> lines;  // by line of the other
  for (std::size_t i = 0; i < other.charges_.size(); ++i) {
    const IdleCharge& more = other.charges_[i];
    const FirstGap& first = other.first_gaps_[i];
    const StringId name = more.name.valid() ? shared_name(more.name) : more.name;
    lines.push_back(line_of(more.state, name));
    IdleCharge& charge = charges_[lines.back()];
    const bool goes_on = charge.last_gap == first.gap;
    const std::int64_t first_ns = plus_ns(goes_on ? charge.ns_of_last_gap : 0,
                                          more.gaps == 1 ? more.ns_of_last_gap : first.ns);
    charge.ns = plus_ns(charge.ns, more.ns);
    charge.longest_ns = std::max({charge.longest_ns, more.longest_ns, first_ns});
    charge.gaps += more.gaps - (goes_on ? 1 : 0);
    charge.last_gap = more.last_gap;
    charge.ns_of_last_gap = more.gaps == 1 ? first_ns : more.ns_of_last_gap;
  }
  for (const Share& share : other.shares_)
    shares_.push_back({share.gap, lines[share.charge], share.ns});
}

std::vector<GapHost> IdleLedger::largest_shares(std::size_t gaps) {
  std::ranges::stable_sort(shares_, {}, [](const Share& share) {
    return std::pair{share.gap, share.charge};
  });
  std::vector<GapHost> largest(gaps);
  for (auto first = shares_.begin(); first != shares_.end();) {
    std::int64_t ns = 0;
    auto last = first;
    for (; last != shares_.end() && last->gap == first->gap && last->charge == first->charge;
         ++last)
      ns = plus_ns(ns, last->ns);
    GapHost& best = largest[first->gap];
    if (ns > best.ns) best = {charges_[first->charge].state, charges_[first->charge].name, ns};
    first = last;
  }
  return largest;
}

void IdleLedger::add_line(HostState state, StringId name) {
  charges_.push_back({.state = state, .name = name});
  next_of_name_.push_back(kNone);
  first_gaps_.emplace_back();
}

StringId IdleLedger::first_with_text_of(StringId name) {
  return first_by_text_.try_emplace(without_address(trace_.text(name)), name).first->second;
}

}  // namespace tracelens
