// names.hpp: the texts of a page, each once.
//   PageNames names;
//   const PageName gemm = names.of("nvjet_tst_128x128");
#pragma once

#include <algorithm>
#include <cstdint>
#include <string>
#include <string_view>
#include <tracelens/page.hpp>
#include <tracelens/trace.hpp>
#include <unordered_map>
#include <utility>
#include <vector>

namespace tracelens {

class PageNames {
 public:
  PageNames() { (void)of(std::string_view{}); }
  [[nodiscard]] PageName of(std::string_view text) {
    const auto [entry, is_new] =
        places_.try_emplace(std::string{text}, static_cast<PageName>(places_.size()));
    return entry->second;
  }
  [[nodiscard]] std::vector<std::string> take() && {
    std::vector<std::string> texts(places_.size());
    while (!places_.empty()) {
      auto node = places_.extract(places_.begin());
      texts[node.mapped()] = std::move(node.key());
    }
    return texts;
  }

 private:
  std::unordered_map<std::string, PageName> places_;
};

// Those of one trace: each string is looked for once.
class TraceNames {
 public:
  TraceNames(const Trace& trace, PageNames& names)
      : trace_{trace}, names_{names}, known_(trace.string_count()) {}
  [[nodiscard]] PageName of(StringId id) {
    if (!id.valid()) return 0;
    PageName& known = known_[id.row];
    if (known == 0) known = names_.of(trace_.text(id));
    return known;
  }
  [[nodiscard]] PageName of(EventId event) { return of(trace_.names()[event.row]); }
  [[nodiscard]] PageName of(std::string_view text) { return names_.of(text); }
  // "nn.Module: Linear_12" -> "Linear_12"
  [[nodiscard]] PageName of_module(EventId event) {
    PageName& known = known_modules_[trace_.names()[event.row].row];
    if (known == 0) {
      std::string_view name = trace_.name(event);
      name.remove_prefix(std::min(name.size(), name.find(':') + 1));
      name.remove_prefix(std::min(name.size(), name.find_first_not_of(' ')));
      known = names_.of(name);
    }
    return known;
  }

 private:
  const Trace& trace_;
  PageNames& names_;
  std::vector<PageName> known_;  // by StringId
  std::unordered_map<std::uint32_t, PageName> known_modules_;
};

}  // namespace tracelens
