// name_test.hpp: a question about the names of events, asked once of each distinct name.
//   NameTest is_write{c.trace, [](std::string_view name) { return has_text(name, "store_cache"); }};
//   for (const EventId event : c.gpu_events()) if (is_write(event)) ...
#pragma once

#include <cstdint>
#include <string_view>
#include <tracelens/trace.hpp>
#include <vector>

namespace tracelens {

template <class Predicate>
class NameTest {
 public:
  NameTest(const Trace& trace, Predicate predicate)
      : trace_{trace}, predicate_{predicate}, answers_(trace.string_count()) {}

  [[nodiscard]] bool operator()(EventId event) {
    Answer& answer = answers_[trace_.names()[event.row].row];
    if (answer == Answer::kNotAsked)
      answer = predicate_(trace_.name(event)) ? Answer::kYes : Answer::kNo;
    return answer == Answer::kYes;
  }

 private:
  enum class Answer : std::uint8_t { kNotAsked, kNo, kYes };
  const Trace& trace_;
  Predicate predicate_;
  std::vector<Answer> answers_;  // by StringId
};

}  // namespace tracelens
