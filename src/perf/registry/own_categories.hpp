// own_categories.hpp: the categories a function of the user gives to ops: ReportOptions::category_of.
//   const OwnCategories mine{options.category_of};
//   mine.of("aten::mm", "ampere_sgemm_128x64");     // "": nothing of its own
// Any threads may ask. The function is asked about a pair of names once, or a few times when threads do
// so at the same moment; what it says lives as long as this.
#pragma once

#include <functional>
#include <map>
#include <mutex>
#include <string>
#include <string_view>
#include <utility>

namespace tracelens::perf {

class OwnCategories {
 public:
  using Ask = std::function<std::string(std::string_view op, std::string_view first_kernel)>;
  explicit OwnCategories(Ask ask) : ask_{std::move(ask)} {}

  [[nodiscard]] std::string_view of(std::string_view op, std::string_view first_kernel) const {
    if (!ask_) return {};
    std::pair<std::string, std::string> key{op, first_kernel};
    {
      const std::lock_guard lock{mutex_};
      if (const auto known = known_.find(key); known != known_.end()) return known->second;
    }
    std::string said = ask_(op, first_kernel);  // without the lock: it may take others
    const std::lock_guard lock{mutex_};
    return known_.try_emplace(std::move(key), std::move(said)).first->second;
  }

 private:
  Ask ask_;
  mutable std::mutex mutex_;
  mutable std::map<std::pair<std::string, std::string>, std::string> known_;
};

}  // namespace tracelens::perf
