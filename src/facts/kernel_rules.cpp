#include "facts/kernel_rules.hpp"

#include <fmt/core.h>
#include <re2/re2.h>

#include <algorithm>
#include <deque>
#include <mutex>
#include <optional>
#include <tracelens/error.hpp>
#include <tracelens/files.hpp>
#include <utility>

#include "facts/needed_words.hpp"
#include "io/ascii.hpp"
#include "trace/json_value.hpp"

namespace tracelens {

// A pattern is compiled for the first name that has one of its words.
class KernelRules::Matcher {
 public:
  explicit Matcher(const std::string& pattern) : pattern_{pattern}, words_{needed_words(pattern)} {}
  [[nodiscard]] const RE2& compiled() const {
    std::call_once(once_, [this] { compiled_.emplace(pattern_, RE2::Quiet); });
    return *compiled_;
  }
  // `lower`: the name in lower case; empty where that means little, as it is not ASCII.
  [[nodiscard]] bool matches(std::string_view name, std::string_view lower) const {
    const bool may = words_.empty() || lower.empty() ||
                     std::ranges::any_of(words_, [&](const std::string& word) {
                       return lower.find(word) != lower.npos;
                     });
    return may && RE2::PartialMatch({name.data(), name.size()}, compiled());
  }

 private:
  const std::string& pattern_;
  const std::vector<std::string> words_;
  mutable std::once_flag once_;
  mutable std::optional<RE2> compiled_;
};

KernelRules::KernelRules(std::vector<KernelRule> rules)
    : rules_{std::make_shared<const std::vector<KernelRule>>(std::move(rules))} {
  auto matchers = std::make_shared<std::deque<Matcher>>();
  for (const KernelRule& rule : *rules_) matchers->emplace_back(rule.pattern);
  matchers_ = std::move(matchers);
}

KernelRules::KernelRules(std::vector<KernelRule> rules, std::string_view where)
    : KernelRules{std::move(rules)} {
  check_first(rules_->size(), where);
}

void KernelRules::check_first(std::size_t count, std::string_view where) const {
  for (std::size_t i = 0; i < count; ++i)
    if (const RE2& compiled = (*matchers_)[i].compiled(); !compiled.ok())
      throw Error{where, fmt::format("rule {}: \"pattern\": {}", i + 1, compiled.error())};
}

const KernelRules& KernelRules::built_in() {
  static const KernelRules kRules = [] {
    constexpr std::string_view kWhere = "data/kernel_categories.json";
    bool replaces = false;
    return KernelRules{parse_kernel_rules(built_in_kernel_rules(), kWhere, replaces)};
  }();
  return kRules;
}

KernelRules KernelRules::extended_by(std::string_view json, std::string_view where) const {
  bool replaces = false;
  std::vector<KernelRule> rules = parse_kernel_rules(json, where, replaces);
  const std::size_t own = rules.size();
  if (!replaces) rules.insert(rules.end(), rules_->begin(), rules_->end());
  KernelRules extended{std::move(rules)};
  extended.check_first(own, where);
  return extended;
}

KernelRules load_kernel_rules(const std::string& file) {
  if (file.empty()) return KernelRules::built_in();
  return KernelRules::built_in().extended_by(read_text_file(file), file);
}

std::string_view KernelRules::category(std::string_view kernel) const {
  const std::string lower =
      std::ranges::all_of(kernel, io::is_ascii) ? io::lower_case(kernel) : std::string{};
  for (std::size_t i = 0; i < matchers_->size(); ++i)
    if ((*matchers_)[i].matches(kernel, lower)) return (*rules_)[i].category;
  return kOtherKernel;
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
