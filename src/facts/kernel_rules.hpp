// kernel_rules.hpp: what kind of work a GPU kernel does, by its name.
//   const KernelRules rules = load_kernel_rules("my_rules.json");
//   rules.category("nvjet_sm90_tst_128x128_64x6_2x4_h_bz_NTT")      // "gemm"
// Rules are an ordered table of (regular expression, category): data/kernel_categories.json, which
// is embedded at build time, after the user's own. For graph launches and GPU-only traces, where no
// op tells what a kernel is for.
#pragma once

#include <cstdint>
#include <deque>
#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <tracelens/trace.hpp>
#include <utility>
#include <vector>

namespace tracelens {

inline constexpr std::string_view kOtherKernel = "other";  // of a kernel that no rule knows

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

  // Of the first rule that matches; kOtherKernel when none does. The view lives as long as the rules.
  [[nodiscard]] std::string_view category(std::string_view kernel) const;
  [[nodiscard]] std::string_view operator()(std::string_view kernel) const {
    return category(kernel);
  }
  [[nodiscard]] const std::vector<KernelRule>& rules() const { return *rules_; }

  // Throws Error naming `where` and the rule whose pattern is wrong.
  KernelRules(std::vector<KernelRule> rules, std::string_view where);

 private:
  explicit KernelRules(std::vector<KernelRule> rules);                // whose patterns are right
  void check_first(std::size_t count, std::string_view where) const;  // throws Error
  class Matcher;
  std::shared_ptr<const std::vector<KernelRule>> rules_;
  std::shared_ptr<const std::deque<Matcher>> matchers_;  // of the rules
};

// The built-in rules, after those of the user's file; without a file the built-in ones alone. Throws
// Error when it cannot be read or is wrong.
[[nodiscard]] KernelRules load_kernel_rules(const std::string& file);

// What the kernels of a PyTorch trace do. A kernel that no rule knows and whose name is a plain word
// in lower case ("_my_fwd_kernel") is "triton": what is written in C++ carries its types
// in its name.
class TorchKernelKinds {
 public:
  explicit TorchKernelKinds(KernelRules rules) : rules_{std::move(rules)} {}
  [[nodiscard]] std::string_view operator()(std::string_view kernel) const;

 private:
  KernelRules rules_;
};

// The rules of a file; throws Error. `replaces` tells whether they stand instead of the built-in.
[[nodiscard]] std::vector<KernelRule> parse_kernel_rules(std::string_view json,
                                                         std::string_view where, bool& replaces);

[[nodiscard]] std::string_view built_in_kernel_rules();  // the embedded file

// The categories of the kernels of one trace, by rules or by any other function of the name; each
// distinct name is looked at once.
class KernelCategories {
 public:
  using Classify = std::function<std::string_view(std::string_view kernel)>;
  KernelCategories(const Trace& trace, Classify classify)
      : trace_{trace}, classify_{std::move(classify)}, ids_(trace.string_count(), kNew) {}
  // Numbers are handed out in the order categories are first seen.
  [[nodiscard]] std::uint32_t id_of(StringId kernel);
  [[nodiscard]] std::string_view text(std::uint32_t id) const { return texts_[id]; }
  [[nodiscard]] std::string_view of(StringId kernel) { return text(id_of(kernel)); }

 private:
  static constexpr std::uint32_t kNew = 0xffffffff;
  const Trace& trace_;
  Classify classify_;
  std::vector<std::uint32_t> ids_;  // by StringId
  std::vector<std::string_view> texts_;
};

}  // namespace tracelens
