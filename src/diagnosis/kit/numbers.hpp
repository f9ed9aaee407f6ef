// numbers.hpp: the thresholds and factors of the rules. Each rule lists its own, with what they mean;
// a file may set any of them.
//   constexpr Number kNumbers[] = {{"least_pct", 5, "% of the window that loading takes"}};
//   if (c.share(loading) < n["least_pct"]) return std::nullopt;
//
//   const RuleSettings settings = read_rule_settings("rules.json");    // {"DATA-1.least_pct": 3}
#pragma once

#include <map>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace tracelens {

struct Number {
  std::string_view key;  // "least_pct"
  double value;
  std::string_view meaning;  // in a few words, with the unit
};

// What a file sets, by "id.key".
struct RuleSettings {
  std::map<std::string, double, std::less<>> numbers = {};
  std::map<std::string, std::string, std::less<>> texts = {};               // titles
  std::map<std::string, std::vector<std::string>, std::less<>> lists = {};  // what to try
  std::string file = {};
};

// Throws Error when it cannot be read or is no object of numbers, texts and lists of texts.
[[nodiscard]] RuleSettings read_rule_settings(const std::string& file);

// The numbers of one rule: those of the file before its own.
class Numbers {
 public:
  Numbers(std::string_view id, std::span<const Number> own, const RuleSettings& settings)
      : id_{id}, own_{own}, settings_{settings} {}
  [[nodiscard]] double operator[](std::string_view key) const;  // one of its own

 private:
  std::string_view id_;
  std::span<const Number> own_;
  const RuleSettings& settings_;
};

}  // namespace tracelens
