// kernel_rules.hpp: what kind of work a GPU kernel does, by its name.
//   const KernelRules rules = KernelRules::built_in().extended_by(read_text, "my_rules.json");
//   rules.category("nvjet_sm90_tst_128x128_64x6_2x4_h_bz_NTT")      // "gemm"
// Rules are an ordered table of (regular expression, category): data/kernel_categories.json, which
// is embedded at build time, after the user's own. For graph launches and GPU-only traces, where no
// op tells what a kernel is for.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <tracelens/trace.hpp>
#include <vector>

namespace tracelens {

struct KernelRule {
  std::string category;
  std::string pattern;  // RE2; found anywhere in the name
  bool operator==(const KernelRule&) const = default;
};

class KernelRules {
 public:
  static const KernelRules& built_in();
  // `{"rules": [{"category": "gemm", "pattern": "my_mm"}], "replace": false}`: rules that come
  // before these, or instead of them. Throws Error naming `where` and the rule that is wrong.
  [[nodiscard]] KernelRules extended_by(std::string_view json, std::string_view where) const;

  // Of the first rule that matches; "other" when none does. The view lives as long as the rules.
  [[nodiscard]] std::string_view category(std::string_view kernel) const;
  [[nodiscard]] const std::vector<KernelRule>& rules() const { return *rules_; }

  // All patterns must be sound; checked by extended_by().
  explicit KernelRules(std::vector<KernelRule> rules);

 private:
  struct Matcher;
  std::shared_ptr<const std::vector<KernelRule>> rules_;
  std::shared_ptr<const Matcher> matcher_;  // all patterns in one pass over the name
};

// The rules of a file; throws Error. `replaces` tells whether they stand instead of the built-in.
[[nodiscard]] std::vector<KernelRule> parse_kernel_rules(std::string_view json,
                                                         std::string_view where, bool& replaces);

[[nodiscard]] std::string_view built_in_kernel_rules();  // the embedded file

// The categories of the kernels of one trace; each distinct name is matched once.
class KernelCategories {
 public:
  KernelCategories(const Trace& trace, const KernelRules& rules)
      : trace_{trace}, rules_{rules}, ids_(trace.string_count(), kNew) {}
  // Numbers are handed out in the order categories are first seen.
  [[nodiscard]] std::uint32_t id_of(StringId kernel);
  [[nodiscard]] std::string_view text(std::uint32_t id) const { return texts_[id]; }
  [[nodiscard]] std::string_view of(StringId kernel) { return text(id_of(kernel)); }

 private:
  static constexpr std::uint32_t kNew = 0xffffffff;
  const Trace& trace_;
  const KernelRules& rules_;
  std::vector<std::uint32_t> ids_;  // by StringId
  std::vector<std::string_view> texts_;
};

}  // namespace tracelens
