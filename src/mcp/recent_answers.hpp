// recent_answers.hpp: answers that took long to make, for the next page and for whoever asks again.
//   const auto answer = recent.get(key, [&] { return compare(...); });
#pragma once

#include <functional>
#include <list>
#include <memory>
#include <mutex>
#include <string>
#include <utility>

#include "mcp/answer.hpp"

namespace tracelens::mcp {

class RecentAnswers {
 public:
  // Made by this call where nobody has; two may make the same at once.
  std::shared_ptr<const Answer> get(const std::string& key, const std::function<Answer()>& make) {
    {
      const std::lock_guard lock{mutex_};
      for (auto at = answers_.begin(); at != answers_.end(); ++at)
        if (at->first == key) {
          answers_.splice(answers_.begin(), answers_, at);
          return at->second;
        }
    }
    auto made = std::make_shared<const Answer>(make());
    const std::lock_guard lock{mutex_};
    answers_.emplace_front(key, made);
    if (answers_.size() > kKept) answers_.pop_back();
    return made;
  }

 private:
  static constexpr std::size_t kKept = 8;
  std::mutex mutex_;
  std::list<std::pair<std::string, std::shared_ptr<const Answer>>> answers_;  // the latest first
};

}  // namespace tracelens::mcp
