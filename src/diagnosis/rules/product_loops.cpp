#include "diagnosis/rules/product_loops.hpp"

#include <algorithm>
#include <cctype>
#include <map>
#include <tuple>
#include <utility>

namespace tracelens {
namespace {

bool is_small_product(const OpUse& use, double most_flops) {
  return is_product(use.category) && use.work != nullptr && use.work->flops > 0 &&
         use.work->flops < most_flops && use.node.valid();
}

// The result of a product has the shape of its first operand: such a row of products may be layers
// that each need the one before.
bool may_be_layers(const Work& work) { return param_of(work, "N") == param_of(work, "K"); }

std::string lower(std::string_view text) {
  std::string copy{text};
  for (char& letter : copy)
    letter = static_cast<char>(std::tolower(static_cast<unsigned char>(letter)));
  return copy;
}

bool picks_rows(std::string_view op) {
  return has_any(op, {"select", "index", "gather", "scatter", "narrow", "SelectBackward",
                      "IndexBackward", "slice_backward"});
}

class Finder {
 public:
  Finder(const DiagnosisContext& c, const LoopLimits& limits)
      : c_{c}, limits_{limits}, order_{uses_by_time(c)} {}

  std::vector<ProductLoop> find() {
    using Key = std::tuple<std::uint32_t, std::uint32_t, std::uint32_t>;  // module, track, shape
    std::map<Key, std::vector<std::uint32_t>> calls;
    for (const std::uint32_t at : order_) {
      const OpUse& use = c_.op_uses()[at];
      if (!is_small_product(use, limits_.most_flops)) continue;
      const NodeId inner = c_.places().module(use.node);
      if (!inner.valid()) continue;
      const std::uint32_t track = c_.trace.tracks()[use.event.row].row;
      calls[{inner.row, track, use.group}].push_back(at);
      const NodeId outer = c_.tree().nearest_module(inner);
      if (outer.valid() && !has_text(c_.trace.name(c_.tree().event(outer)), "Sequential"))
        calls[{outer.row, track, use.group}].push_back(at);
    }
    for (const auto& [key, uses] : calls) add(NodeId{std::get<0>(key)}, uses);
    std::vector<ProductLoop> merged = merge_overlapping();
    for (ProductLoop& loop : merged) fill(loop);
    std::erase_if(merged, [&](const ProductLoop& loop) {
      return !loop.is_of_experts && may_be_layers(*products_work(loop));
    });
    return merged;
  }

 private:
  [[nodiscard]] std::int64_t ts(std::uint32_t at) const {
    return c_.trace.ts_ns()[c_.op_uses()[at].event.row];
  }

  void add(NodeId module, const std::vector<std::uint32_t>& uses) {
    if (uses.size() < std::max<std::size_t>(2, limits_.least_turns)) return;
    if (ts(uses.back()) == ts(uses.front())) return;  // a loop takes one turn after the other
    const EventId last = c_.op_uses()[uses.back()].event;
    // What follows the last product belongs to its turn, which is as long as the others.
    const std::int64_t turn =
        (ts(uses.back()) - ts(uses.front())) / static_cast<std::int64_t>(uses.size() - 1);
    found_.push_back({.track = c_.trace.tracks()[last.row],
                      .start_ns = ts(uses.front()),
                      .end_ns = std::max(c_.trace.end_ns(last), ts(uses.back()) + turn),
                      .module = module,
                      .turns = uses.size()});
  }

  // Products of several shapes in one loop.
  std::vector<ProductLoop> merge_overlapping() {
    std::ranges::sort(found_, {}, [](const ProductLoop& loop) {
      return std::tuple{loop.track.row, loop.start_ns, loop.end_ns};
    });
    std::vector<ProductLoop> merged;
    for (ProductLoop& loop : found_) {
      if (!merged.empty() && merged.back().track == loop.track &&
          loop.start_ns < merged.back().end_ns) {
        ProductLoop& into = merged.back();
        into.end_ns = std::max(into.end_ns, loop.end_ns);
        into.turns = std::max(into.turns, loop.turns);
      } else {
        merged.push_back(std::move(loop));
      }
    }
    return merged;
  }

  void fill(ProductLoop& loop) {
    const std::string name = lower(c_.trace.name(c_.tree().event(loop.module)));
    loop.is_of_experts = has_any(name, {"moe", "expert"});
    const auto first = std::ranges::partition_point(order_, [&](std::uint32_t at) {
      const std::uint32_t track = c_.trace.tracks()[c_.op_uses()[at].event.row].row;
      return std::pair{track, ts(at)} < std::pair{loop.track.row, loop.start_ns};
    });
    for (auto at = first; at != order_.end(); ++at) {
      const OpUse& use = c_.op_uses()[*at];
      if (c_.trace.tracks()[use.event.row] != loop.track || ts(*at) >= loop.end_ns) break;
      loop.uses.push_back(*at);
      loop.is_of_experts |= picks_rows(use.name);
    }
  }

  [[nodiscard]] const Work* products_work(const ProductLoop& loop) const {
    for (const std::uint32_t at : loop.uses)
      if (is_small_product(c_.op_uses()[at], limits_.most_flops)) return c_.op_uses()[at].work;
    return nullptr;  // never: a loop has products
  }

  const DiagnosisContext& c_;
  const LoopLimits limits_;
  const std::vector<std::uint32_t> order_;
  std::vector<ProductLoop> found_;
};

}  // namespace

std::vector<ProductLoop> product_loops(const DiagnosisContext& c, const LoopLimits& limits) {
  return Finder{c, limits}.find();
}

void batch(const DiagnosisContext& c, const ProductLoop& loop, double of_peak, Collected& found) {
  const double turn = 1 / static_cast<double>(loop.turns);
  const auto bandwidth = c.reached_bandwidth();
  for (const std::uint32_t at : loop.uses) {
    const OpUse& use = c.op_uses()[at];
    if (!found.may_take(use)) continue;
    double factor = turn;
    if (is_product(use.category) && use.work != nullptr && bandwidth) {
      const auto peak = c.peak_flops(use.work->compute_spec);
      const double seconds = std::max(peak ? use.work->flops / (of_peak * *peak) : 0.0,
                                      use.work->bytes.value_or(0) / *bandwidth);
      factor = std::min(1.0, seconds * 1e9 / static_cast<double>(use.busy_ns));
    }
    found.scale(use, factor);
  }
  found.scale_host(loop.track, loop.start_ns, loop.end_ns, turn);
}

}  // namespace tracelens
