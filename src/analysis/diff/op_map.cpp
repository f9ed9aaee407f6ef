#include "analysis/diff/op_map.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <set>
#include <unordered_map>
#include <unordered_set>
#include <utility>

#include <tracelens/json.hpp>
#include <tracelens/table_text.hpp>

namespace tracelens {
namespace {

std::string_view short_name(std::string_view op) {
  const auto at = op.rfind("::");
  return at == op.npos ? op : op.substr(at + 2);
}

// The first 20 characters, not bytes.
std::string_view beginning(std::string_view text) {
  std::size_t characters = 0, at = 0;
  while (at < text.size() && characters <= 20) {
    const bool continues = (static_cast<unsigned char>(text[at]) & 0xC0) == 0x80;
    if (!continues && ++characters > 20) break;
    ++at;
  }
  return text.substr(0, at);
}

class NameUnifier {
 public:
  NameUnifier(std::span<const OpMention> rows, Edition edition) : edition_{edition} {
    for (const OpMention& row : rows) {
      const auto [found, is_new] = modules_.try_emplace(row.op, Modules{row.module, row.side});
      Modules& modules = found->second;
      if (row.side > modules.side) modules = {row.module, row.side};  // the second trace's win
      if (row.side == modules.side && row.module != modules.first) modules.are_several = true;
    }
  }

  OpRenaming unify(std::span<const OpMention> rows) {
    struct Ops {
      Names names;  // as they come
      std::unordered_set<std::string_view> known;
    };
    struct Point {
      Ops ops[2];
    };
    std::vector<std::int64_t> order;
    std::unordered_map<std::int64_t, Point> points;
    for (const OpMention& row : rows) {
      if (!row.ancestor) continue;
      const auto [point, is_new] = points.try_emplace(*row.ancestor);
      if (is_new) order.push_back(*row.ancestor);
      Ops& ops = point->second.ops[row.side];
      if (ops.known.insert(row.op).second) ops.names.push_back(row.op);
    }
    std::unordered_set<std::string_view> seen;
    for (const std::int64_t id : order) {
      const auto& [of_first, of_second] = points[id].ops;
      const Names &first = of_first.names, &second = of_second.names;
      if (first.empty() || second.empty()) continue;
      bool is_news = false;
      for (const Names* ops : {&first, &second})
        for (const std::string_view op : *ops) is_news |= seen.insert(op).second;
      if (is_news) pair_up(id, first, second);
    }
    return std::move(result_);
  }

 private:
  using Names = std::vector<std::string_view>;
  struct Modules {
    std::string_view first;
    std::size_t side = 0;
    bool are_several = false;
  };

  void pair_up(std::int64_t id, Names first, Names second) {
    if (first.size() == second.size()) {
      for (std::size_t i = 0; i < first.size(); ++i)
        if (first[i] != second[i] && !rename(first[i], second[i]))
          result_.notes.push_back(fmt::format(
              "No common name found for {} and {} under the same LCA, keeping original names.",
              first[i], second[i]));
      return;
    }
    const Names all_second = second;
    std::erase_if(second,
                  [&](std::string_view op) { return std::ranges::find(first, op) != first.end(); });
    std::erase_if(first, [&](std::string_view op) {
      return std::ranges::find(all_second, op) != all_second.end();
    });
    std::erase_if(first, [&](std::string_view op) {
      const auto partner =
          std::ranges::find_if(second, [&](std::string_view other) { return rename(op, other); });
      if (partner == second.end()) return false;
      second.erase(partner);
      return true;
    });
    if (!first.empty() || !second.empty())
      result_.notes.push_back(fmt::format("Unmatched for LCA {}: [{}] vs [{}]", id,
                                          fmt::join(first, ", "), fmt::join(second, ", ")));
  }

  bool rename(std::string_view first, std::string_view second) {
    const auto common = common_name(first, second);
    if (!common) return false;
    for (const std::string_view op : {first, second}) result_.names[std::string{op}] = *common;
    result_.notes.push_back(fmt::format("Renaming: {}, {} to {}", first, second, *common));
    return true;
  }

  [[nodiscard]] std::optional<std::string> common_name(std::string_view first,
                                                       std::string_view second) const {
    const std::string_view a = short_name(first), b = short_name(second);
    if (b.find(a) != b.npos) return std::string{a};
    if (a.find(b) != a.npos) return std::string{b};
    if (beginning(a) == beginning(b)) return fmt::format("{}/{}", a, b);
    const Modules &of_a = modules_.at(first), &of_b = modules_.at(second);
    const bool same = !of_a.are_several && !of_b.are_several && of_a.first == of_b.first &&
                      (edition_ == Edition::kReference || of_a.first != "root");
    return same ? std::optional{without_blanks(of_a.first)} : std::nullopt;
  }

  Edition edition_;
  std::unordered_map<std::string_view, Modules> modules_;
  OpRenaming result_;
};

// JSON with two blanks per level and one item per line.
class Json {
 public:
  void open(char bracket) {
    out_.push_back(bracket);
    ++depth_;
    is_first_ = true;
  }
  void close(char bracket) {
    --depth_;
    if (!is_first_) new_line();
    out_.push_back(bracket);
    is_first_ = false;
  }
  void key(std::string_view name) {
    item();
    append_json_text(out_, name);
    out_ += ": ";
  }
  void text(std::string_view value) {
    item();
    append_json_text(out_, value);
  }
  template <class Text>
  void list(std::string_view name, const std::set<Text>& values) {
    key(name);
    open('[');
    for (const Text& value : values) text(value);
    close(']');
  }
  std::string take() { return std::move(out_); }

 private:
  void item() {
    if (!is_first_) out_.push_back(',');
    is_first_ = false;
    new_line();
  }
  void new_line() { out_.append("\n").append(depth_ * 2, ' '); }

  std::string out_;
  std::size_t depth_ = 0;
  bool is_first_ = true;
};

}  // namespace

OpRenaming unify_op_names(std::span<const OpMention> rows, Edition edition) {
  return NameUnifier{rows, edition}.unify(rows);
}

std::string without_blanks(std::string_view text) {
  std::string out{text};
  std::erase(out, ' ');
  return out;
}

std::string kernels_by_op_json(std::span<const OpMention> rows, std::size_t side) {
  std::map<std::string_view, std::set<std::string_view>> kernels;
  for (const OpMention& row : rows)
    if (row.side == side) kernels[row.op].insert(row.kernel);
  Json json;
  json.open('{');
  for (const auto& [op, names] : kernels) json.list(op, names);
  json.close('}');
  return json.take();
}

std::string unified_op_json(std::span<const OpMention> rows, bool one_side) {
  struct Entry {
    std::set<std::string_view> kernels, modules;
  };
  std::vector<std::string_view> order;
  std::unordered_map<std::string_view, std::map<std::size_t, Entry>> entries;
  for (const OpMention& row : rows) {
    const auto [entry, is_new] = entries.try_emplace(row.op);
    if (is_new) order.push_back(row.op);
    entry->second[row.side].kernels.insert(row.kernel);
    entry->second[row.side].modules.insert(row.module);
  }
  Json json;
  json.open('{');
  for (const std::string_view op : order) {
    json.key(op);
    if (!one_side) json.open('{');
    for (const auto& [side, entry] : entries[op]) {
      if (!one_side) json.key(side == 0 ? "trace1" : "trace2");
      json.open('{');
      json.list("kernels", entry.kernels);
      std::set<std::string> modules;
      for (const std::string_view module : entry.modules) modules.insert(without_blanks(module));
      json.list("nn_module_parents", modules);
      json.close('}');
    }
    if (!one_side) json.close('}');
  }
  json.close('}');
  return json.take();
}

}  // namespace tracelens
