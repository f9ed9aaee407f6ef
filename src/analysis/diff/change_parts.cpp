// What explains the difference between two traces: substitutions, and the ops around them.
#include <algorithm>
#include <cmath>
#include <limits>
#include <map>
#include <numeric>
#include <utility>

#include "analysis/diff/ops.hpp"
#include "tree/time_math.hpp"

namespace tracelens {
namespace {

// Collects the parts of a change: see change_parts().
class PartCollector {
 public:
  explicit PartCollector(const DiffInput& input) : input_{input} {}

  std::vector<ChangePart> collect() {
    find_exchanges();
    for (const std::size_t side : {0U, 1U}) find_ops(side);
    join_variants();
    drop_misalignments();
    add_leftovers();
    for (const std::size_t side : {0U, 1U})
      for (const Work& work : work_[side]) {
        ChangePart& part = parts_[work.exchange == kNone ? work.op : work.exchange];
        part.ns[side] = plus_ns(part.ns[side], work.ns);
        ++part.kernels[side];
      }
    std::erase_if(parts_, [](const ChangePart& part) {
      return part.kernels[0] == 0 && part.kernels[1] == 0;
    });
    return std::move(parts_);
  }

 private:
  static constexpr std::size_t kNone = std::numeric_limits<std::size_t>::max();
  struct Work {  // of a GPU event
    std::int64_t ns = 0;
    std::size_t op = kNone, exchange = kNone;  // parts it may count for
  };

  void find_exchanges() {
    exchange_of_[0].resize(input_.tree1.size(), kNone);
    exchange_of_[1].resize(input_.tree2.size(), kNone);
    std::vector<ExchangedSubtree> exchanged;
    const std::vector<Substitution> found = substitutions(input_, &exchanged);
    std::map<std::array<std::string, 2>, std::size_t> places;  // by what went and came
    for (const auto& [substitution, side, node] : exchanged) {
      const Substitution& each = found[substitution];
      const auto [place, is_new] = places.try_emplace({each.removed, each.added}, parts_.size());
      if (is_new) parts_.push_back({.removed = each.removed, .added = each.added});
      const Tree& tree = side == 0 ? input_.tree1 : input_.tree2;
      const auto first = exchange_of_[side].begin();
      std::fill(first + node.row, first + tree.end(node).row, place->second);
    }
    for (const Substitution& each : found)
      if (const auto place = places.find({each.removed, each.added}); place != places.end())
        parts_[place->second].count += each.count;
  }

  void find_ops(std::size_t side) {
    const Trace& trace = side == 0 ? input_.trace1 : input_.trace2;
    const Tree& tree = side == 0 ? input_.tree1 : input_.tree2;
    for (const EventId event : tree.linked_gpu_events()) {
      const NodeId node = tree.node(event), op = tree.nearest_op(node);
      const std::string name = op_title(trace, tree, op.valid() ? op : node);
      const auto [place, is_new] = ops_.try_emplace(name, parts_.size());
      if (is_new) parts_.push_back({.name = name});
      work_[side].push_back(
          {duration_of(trace, event), place->second, exchange_of_[side][node.row]});
    }
  }

  // One exchange may be found in several forms, with more or less around it. Those about one op are
  // one, called after the largest. An op is told by the side on which exchanges have fewer of them:
  // flash attention for its parts, before or after.
  void join_variants() {
    using Times = std::map<std::size_t, std::int64_t>;  // by op
    std::array<std::map<std::size_t, Times>, 2> times;  // by exchange
    std::vector<std::int64_t> size(parts_.size());
    for (const std::size_t side : {0U, 1U})
      for (const Work& work : work_[side]) {
        if (work.exchange == kNone) continue;
        size[work.exchange] = plus_ns(size[work.exchange], work.ns);
        std::int64_t& ns = times[side][work.exchange][work.op];
        ns = plus_ns(ns, work.ns);
      }
    const auto main_op = [](const Times& ops) {
      return *std::ranges::max_element(ops, {}, [](const auto& op) { return op.second; });
    };
    std::array<double, 2> main_share = {};
    for (const std::size_t side : {0U, 1U}) {
      double all = 0, of_main = 0;
      for (const auto& [exchange, ops] : times[side]) {
        for (const auto& [op, ns] : ops) all += static_cast<double>(ns);
        of_main += static_cast<double>(main_op(ops).second);
      }
      main_share[side] = all > 0 ? of_main / all : 0;
    }
    const auto& telling = times[main_share[0] > main_share[1] ? 0 : 1];
    std::map<std::size_t, std::size_t> largest;  // by main op
    for (const auto& [exchange, ops] : telling) {
      const auto [place, is_new] = largest.try_emplace(main_op(ops).first, exchange);
      if (!is_new && size[exchange] > size[place->second]) place->second = exchange;
    }
    std::vector<std::size_t> joined(parts_.size());
    std::iota(joined.begin(), joined.end(), 0);
    for (const auto& [exchange, ops] : telling) {
      joined[exchange] = largest[main_op(ops).first];
      if (joined[exchange] != exchange) parts_[joined[exchange]].count += parts_[exchange].count;
    }
    for (const std::size_t side : {0U, 1U})
      for (Work& work : work_[side])
        if (work.exchange != kNone) work.exchange = joined[work.exchange];
  }

  // How far the time of each op is from equal in both traces: 1 when only one of them has it.
  [[nodiscard]] std::vector<double> imbalances() const {
    std::vector<std::array<double, 2>> ns(parts_.size());
    for (const std::size_t side : {0U, 1U})
      for (const Work& work : work_[side]) ns[work.op][side] += static_cast<double>(work.ns);
    std::vector<double> result(parts_.size());
    for (std::size_t i = 0; i < result.size(); ++i)
      if (const double both = ns[i][0] + ns[i][1]; both > 0)
        result[i] = std::abs(ns[i][1] - ns[i][0]) / both;
    return result;
  }

  // Where trees are aligned badly, work seems exchanged that both traces have elsewhere: then most
  // of it belongs to ops that take as long in the one as in the other.
  void drop_misalignments() {
    const std::vector<double> imbalance = imbalances();
    std::vector<double> all(parts_.size()), changed(parts_.size());
    for (const std::size_t side : {0U, 1U})
      for (const Work& work : work_[side]) {
        if (work.exchange == kNone) continue;
        all[work.exchange] += static_cast<double>(work.ns);
        changed[work.exchange] += static_cast<double>(work.ns) * imbalance[work.op];
      }
    for (const std::size_t side : {0U, 1U})
      for (Work& work : work_[side])
        if (work.exchange != kNone && changed[work.exchange] < all[work.exchange] / 2)
          work.exchange = kNone;
  }

  // Of an op that is as good as gone or new because of an exchange, all work belongs to it.
  void add_leftovers() {
    constexpr double kOneSided = 0.95;
    const std::vector<double> imbalance = imbalances();
    std::map<std::size_t, std::map<std::size_t, std::int64_t>> ns_of;  // op, exchange
    for (const std::size_t side : {0U, 1U})
      for (const Work& work : work_[side])
        if (work.exchange != kNone && imbalance[work.op] >= kOneSided) {
          std::int64_t& ns = ns_of[work.op][work.exchange];
          ns = plus_ns(ns, work.ns);
        }
    for (const std::size_t side : {0U, 1U})
      for (Work& work : work_[side])
        if (const auto found = ns_of.find(work.op); work.exchange == kNone && found != ns_of.end())
          work.exchange = std::ranges::max_element(found->second, {}, [](const auto& exchange) {
                            return exchange.second;
                          })->first;
  }

  const DiffInput& input_;
  std::vector<ChangePart> parts_;
  std::map<std::string, std::size_t> ops_;
  std::array<std::vector<std::size_t>, 2> exchange_of_;  // by node: the part, or kNone
  std::array<std::vector<Work>, 2> work_;
};

}  // namespace

std::vector<ChangePart> change_parts(const DiffInput& input) {
  return PartCollector{input}.collect();
}

}  // namespace tracelens
