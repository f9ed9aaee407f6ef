#include "facts/kernel_rules.hpp"

#include <fmt/core.h>
#include <re2/re2.h>
#include <re2/set.h>

#include <algorithm>
#include <optional>
#include <tracelens/error.hpp>
#include <tracelens/files.hpp>
#include <utility>

#include "io/check.hpp"
#include "trace/json_value.hpp"

namespace tracelens {

struct KernelRules::Matcher {
  RE2::Set set{RE2::Quiet, RE2::UNANCHORED};
};

KernelRules::KernelRules(std::vector<KernelRule> rules, std::string_view where)
    : rules_{std::make_shared<const std::vector<KernelRule>>(std::move(rules))} {
  auto matcher = std::make_shared<Matcher>();
  for (std::size_t i = 0; i < rules_->size(); ++i) {
    const std::string& pattern = (*rules_)[i].pattern;
    if (matcher->set.Add(pattern, nullptr) < 0)
      throw Error{where,
                  fmt::format("rule {}: \"pattern\": {}", i + 1, RE2{pattern, RE2::Quiet}.error())};
  }
  TL_CHECK(matcher->set.Compile());
  matcher_ = std::move(matcher);
}

const KernelRules& KernelRules::built_in() {
  static const KernelRules kRules = [] {
    constexpr std::string_view kWhere = "data/kernel_categories.json";
    bool replaces = false;
    return KernelRules{parse_kernel_rules(built_in_kernel_rules(), kWhere, replaces), kWhere};
  }();
  return kRules;
}

KernelRules KernelRules::extended_by(std::string_view json, std::string_view where) const {
  bool replaces = false;
  std::vector<KernelRule> rules = parse_kernel_rules(json, where, replaces);
  if (!replaces) rules.insert(rules.end(), rules_->begin(), rules_->end());
  return KernelRules{std::move(rules), where};
}

KernelRules load_kernel_rules(const std::string& file) {
  if (file.empty()) return KernelRules::built_in();
  return KernelRules::built_in().extended_by(read_text_file(file), file);
}

std::string_view KernelRules::category(std::string_view kernel) const {
  std::vector<int> matches;
  if (!matcher_->set.Match({kernel.data(), kernel.size()}, &matches) || matches.empty())
    return kOtherKernel;
  return (*rules_)[static_cast<std::size_t>(std::ranges::min(matches))].category;
}

std::string_view TorchKernelKinds::operator()(std::string_view kernel) const {
  const std::string_view category = rules_.category(kernel);
  if (category != kOtherKernel) return category;
  static const RE2 kPlainName{"_*[a-z][a-z0-9_]*"};
  return RE2::FullMatch({kernel.data(), kernel.size()}, kPlainName) ? "triton" : category;
}

std::uint32_t KernelCategories::id_of(StringId kernel) {
  std::uint32_t& id = ids_[kernel.row];
  if (id != kNew) return id;
  const std::string_view category = classify_(trace_.text(kernel));
  id = static_cast<std::uint32_t>(std::ranges::find(texts_, category) - texts_.begin());
  if (id == texts_.size()) texts_.push_back(category);
  return id;
}

std::vector<KernelRule> parse_kernel_rules(std::string_view json, std::string_view where,
                                           bool& replaces) {
  const std::optional<Value> root = parse_json_value(json);
  if (!root || root->kind() != Value::Kind::kDict)
    throw Error{where, "expected a JSON object with a list \"rules\""};
  const Value* replace = root->find("replace");
  if (replace != nullptr && replace->kind() != Value::Kind::kBool)
    throw Error{where, "\"replace\": expected true or false"};
  replaces = replace != nullptr && replace->as_bool();
  const Value* list = root->find("rules");
  if (list == nullptr || !list->is_sequence())
    throw Error{where, "expected a JSON object with a list \"rules\""};

  std::vector<KernelRule> rules;
  for (const Value& item : list->items()) {
    const std::string at = fmt::format("rule {}", rules.size() + 1);
    const auto text = [&](std::string_view key) -> const std::string& {
      const Value* value = item.find(key);
      if (value == nullptr || !value->is_text() || value->as_text().empty())
        throw Error{where, fmt::format("{}: expected a text \"{}\"", at, key)};
      return value->as_text();
    };
    rules.push_back({text("category"), text("pattern")});
  }
  return rules;
}

}  // namespace tracelens
