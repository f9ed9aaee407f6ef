#include "readers/xplane/hlo_align.hpp"

#include <algorithm>
#include <array>
#include <charconv>
#include <unordered_set>
#include <utility>

namespace tracelens {
namespace {

// A graph longer than this, or a file that asks for more than kMostCells in all, is matched by
// names alone.
constexpr std::size_t kMostItems = std::size_t{1} << 16;
constexpr std::uint64_t kMostCellsAtOnce = std::uint64_t{1} << 26;
constexpr std::uint64_t kMostCells = std::uint64_t{1} << 30;
constexpr std::size_t kMostRemembered = 256;

bool is_digit(char c) { return c >= '0' && c <= '9'; }

void drop_suffix(std::string_view& text, std::string_view suffix) {
  if (text.ends_with(suffix)) text.remove_suffix(suffix.size());
}

// How often a loop runs, when XLA could tell: {"known_trip_count":{"n":"10"}, ...}
std::size_t trip_count(const hlo::Instruction& loop) {
  constexpr std::string_view kMark = "\"known_trip_count\":{\"n\":\"";
  const std::size_t at = loop.backend_config.find(kMark);
  std::size_t count = 1;
  if (at != std::string::npos) {
    const char* const from = loop.backend_config.data() + at + kMark.size();
    std::from_chars(from, loop.backend_config.data() + loop.backend_config.size(), count);
  }
  return count;
}

std::uint64_t key_of(hlo::Place place) {
  return std::uint64_t{place.computation} << 32 | place.instruction;
}

// The instructions of a computation in the order they run.
std::vector<std::uint32_t> order_of(const hlo::Computation& computation) {
  if (!computation.schedule.empty()) return computation.schedule;
  std::vector<std::uint32_t> order(computation.instructions.size());
  for (std::uint32_t i = 0; i < order.size(); ++i) order[i] = i;
  return order;
}

}  // namespace

KernelName::KernelName(std::string_view text) {
  drop_suffix(text, " [clone .kd]");
  drop_suffix(text, ".kd");
  full = text;
  std::ranges::replace(full, '.', '_');
  std::ranges::replace(full, '-', '_');
  std::string_view rest = full;
  while (true) {  // cut _12 from the end, as often as it is there
    std::size_t end = rest.size();
    while (end > 0 && is_digit(rest[end - 1])) --end;
    if (end == rest.size() || end == 0 || rest[end - 1] != '_') break;
    rest = rest.substr(0, end - 1);
  }
  stem = rest;
}

bool runs_computations(const hlo::Instruction& instruction) {
  return instruction.opcode == "call" || instruction.opcode == "while" ||
         instruction.opcode == "conditional" || instruction.opcode == "async-start";
}

bool launches_work(const hlo::Instruction& instruction) {
  constexpr std::array<std::string_view, 22> kNever = {"parameter",
                                                       "constant",
                                                       "bitcast",
                                                       "get-tuple-element",
                                                       "tuple",
                                                       "after-all",
                                                       "partition-id",
                                                       "replica-id",
                                                       "opt-barrier",
                                                       "add-dependency",
                                                       "domain",
                                                       "async-done",
                                                       "async-update",
                                                       "all-reduce-done",
                                                       "all-gather-done",
                                                       "collective-permute-done",
                                                       "copy-done",
                                                       "send-done",
                                                       "recv-done",
                                                       "token",
                                                       "get-dimension-size",
                                                       "assert"};
  return std::ranges::find(kNever, instruction.opcode) == kNever.end() &&
         !runs_computations(instruction);
}

HloAligner::HloAligner(const hlo::Module& module) : module_{module}, cells_left_{kMostCells} {
  find_positions();
}

void HloAligner::find_positions() {
  if (module_.entry == hlo::kNone) return;
  struct Open {
    std::uint32_t computation, position;
  };
  std::vector<Open> open;
  std::unordered_set<std::uint32_t> seen{module_.entry};
  const auto visit = [&](std::uint32_t computation, std::uint32_t instruction,
                         std::uint32_t position) {
    const hlo::Place place{computation, instruction};
    positions_.emplace(key_of(place), position);
    const hlo::Instruction& at = module_.at(place);
    if (launches_work(at)) {
      ++launching_;
      const auto [entry, is_new] = by_kernel_.emplace(KernelName{at.name}.full, place);
      if (!is_new) entry->second = {};
    }
    if (!runs_computations(at)) return;
    for (const std::uint32_t called : at.calls)
      if (called != hlo::kNone && seen.insert(called).second) open.push_back({called, position});
  };
  const std::vector<std::uint32_t> order = order_of(module_.computations[module_.entry]);
  for (std::uint32_t i = 0; i < order.size(); ++i) visit(module_.entry, order[i], i);
  while (!open.empty()) {
    const Open next = open.back();
    open.pop_back();
    for (const std::uint32_t instruction : order_of(module_.computations[next.computation]))
      visit(next.computation, instruction, next.position);
  }
}

std::optional<hlo::Place> HloAligner::place_of_kernel(const KernelName& kernel) const {
  const auto found = by_kernel_.find(kernel.full);
  if (found == by_kernel_.end() || found->second == hlo::Place{}) return std::nullopt;
  return found->second;
}

std::uint32_t HloAligner::entry_position(hlo::Place place) const {
  const auto found = positions_.find(key_of(place));
  return found == positions_.end() ? hlo::kNone : found->second;
}

std::vector<HloAligner::Item> HloAligner::items_of(std::uint32_t computation) const {
  // A stack of what is being walked: a computation, or the condition and body of a loop as often as
  // the loop runs. One that is already on the stack is not entered again: HLO has no recursion, but
  // damaged files may.
  struct Open {
    std::vector<std::uint32_t> computations;
    std::vector<hlo::Place> order;
    std::size_t next = 0, runs = 1;
  };
  std::vector<Item> items;
  std::vector<Open> open;
  const auto is_open = [&](std::uint32_t called) {
    return std::ranges::any_of(open, [called](const Open& at) {
      return std::ranges::find(at.computations, called) != at.computations.end();
    });
  };
  const auto enter = [&](const std::vector<std::uint32_t>& called, std::size_t runs) {
    Open next{.computations = {}, .order = {}, .next = 0, .runs = runs};
    for (const std::uint32_t one : called) {
      if (one == hlo::kNone || is_open(one)) continue;
      next.computations.push_back(one);
      for (const std::uint32_t instruction : order_of(module_.computations[one]))
        next.order.push_back({one, instruction});
    }
    if (runs > 0 && !next.order.empty()) open.push_back(std::move(next));
  };
  std::size_t steps = 0;
  enter({computation}, 1);
  while (!open.empty() && items.size() < kMostItems && ++steps < 8 * kMostItems) {
    Open& top = open.back();
    if (top.next == top.order.size()) {
      top.next = 0;
      if (--top.runs == 0) open.pop_back();
      continue;
    }
    const hlo::Place place = top.order[top.next++];
    const hlo::Instruction& at = module_.at(place);
    if (at.opcode == "while")
      enter({at.calls.rbegin(), at.calls.rend()}, trip_count(at));  // listed: body, condition
    else if (runs_computations(at))
      enter(at.calls, 1);
    if (!launches_work(at)) continue;
    const bool is_copy = at.opcode == "copy" || at.opcode == "copy-start";
    const bool is_library = at.opcode == "custom-call" || is_copy;
    items.push_back({.place = place,
                     .name = KernelName{at.name},
                     .is_generated = !is_library,
                     .may_be_absent = is_library});
  }
  return items;
}

std::vector<AlignedKernel> HloAligner::align(std::uint32_t computation,
                                             std::span<const std::string_view> kernels) {
  std::string key = std::to_string(computation);
  for (const std::string_view kernel : kernels) key.append("\n").append(kernel);
  if (const auto found = known_.find(key); found != known_.end()) return found->second;
  std::vector<AlignedKernel> places = computation < module_.computations.size()
                                          ? by_cost(items_of(computation), kernels)
                                          : std::vector<AlignedKernel>(kernels.size());
  if (known_.size() < kMostRemembered) known_.emplace(std::move(key), places);
  return places;
}

std::vector<AlignedKernel> HloAligner::by_cost(const std::vector<Item>& items,
                                               std::span<const std::string_view> kernels) {
  std::vector<AlignedKernel> places(kernels.size());
  std::vector<KernelName> names;
  names.reserve(kernels.size());
  for (const std::string_view kernel : kernels) names.emplace_back(kernel);

  const std::uint64_t cells = std::uint64_t{items.size() + 1} * (kernels.size() + 1);
  if (items.empty() || cells > kMostCellsAtOnce || cells > cells_left_) {
    std::unordered_map<std::string_view, hlo::Place> by_name;
    for (const Item& item : items) by_name.emplace(item.name.full, item.place);
    for (std::size_t k = 0; k < names.size(); ++k)
      if (const auto found = by_name.find(names[k].full); found != by_name.end())
        places[k].place = found->second;
    return places;
  }
  cells_left_ -= cells;

  std::unordered_set<std::string_view> stems;  // of the kernels XLA made
  for (const Item& item : items)
    if (item.is_generated) stems.insert(item.name.stem);
  std::vector<std::uint8_t> is_foreign(names.size());
  for (std::size_t k = 0; k < names.size(); ++k)
    is_foreign[k] = stems.contains(names[k].stem) ? 0 : 1;

  const auto match_cost = [&](const Item& item, std::size_t k) -> std::uint32_t {
    if (item.name.full == names[k].full) return 0;
    if (!item.is_generated) return is_foreign[k] != 0 ? 1 : 6;
    if (item.name.stem == names[k].stem) return 1;
    return is_foreign[k] != 0 ? 4 : 6;
  };
  const auto extend_cost = [&](const Item& item, std::size_t k) -> std::uint32_t {
    return item.is_generated ? 5 : is_foreign[k] != 0 ? 2 : 7;
  };

  // open[k]: the least cost of giving out the first k kernels with item i the last one that got
  // any; done[k]: the same with item i dealt with, used or skipped. One row of items at a time;
  // how each cell came about is kept to find the way back.
  enum Way : std::uint8_t { kMatched = 1, kExtended = 2, kSkipped = 4 };
  constexpr std::uint32_t kNever = 1U << 30;
  const std::size_t width = names.size() + 1;
  std::vector<std::uint8_t> ways((items.size() + 1) * width);
  std::vector<std::uint32_t> done(width, kNever), open(width, kNever), before(width);
  done[0] = 0;
  for (std::size_t i = 0; i < items.size(); ++i) {
    before.swap(done);
    std::uint8_t* const way = ways.data() + (i + 1) * width;
    open[0] = kNever;
    const std::uint32_t skip = items[i].may_be_absent ? 2 : 3;
    done[0] = before[0] + skip;
    way[0] = kSkipped;
    for (std::size_t k = 1; k < width; ++k) {
      const std::uint32_t match = before[k - 1] + match_cost(items[i], k - 1);
      const std::uint32_t extend = open[k - 1] + extend_cost(items[i], k - 1);
      open[k] = std::min({match, extend, kNever});
      way[k] = match <= extend ? kMatched : kExtended;
      done[k] = std::min({open[k], before[k] + skip, kNever});
      if (before[k] + skip < open[k]) way[k] |= kSkipped;
    }
  }

  std::size_t i = items.size(), k = names.size();
  bool in_item = false;  // the item was not left yet: a skip cannot follow
  while (i > 0 && k > 0) {
    const std::uint8_t way = ways[i * width + k];
    if (!in_item && (way & kSkipped) != 0) {
      --i;
      continue;
    }
    in_item = (way & kExtended) != 0;
    places[--k] = {.place = items[i - 1].place, .is_first = !in_item};
    if (!in_item) --i;
  }
  return places;
}

}  // namespace tracelens
