// shared_arguments.hpp: the arguments of events as values. Kernels of one collective operation have the
// same text but for the group's count, "Seq": what differs in nothing else is read once.
//   SharedArguments texts{trace};
//   const SharedArguments::Read read = texts.of(kernel);
//   collective_message(*read.arguments), read.sequence
#pragma once

#include <cstdint>
#include <deque>
#include <string>
#include <string_view>
#include <tracelens/trace.hpp>
#include <tracelens/value.hpp>
#include <unordered_map>

namespace tracelens {

class SharedArguments {
 public:
  explicit SharedArguments(const Trace& trace) : trace_{trace} {}

  struct Read {
    // A dict, or null; lives as long as the SharedArguments. Its "Seq" may be that of another event.
    const Value* arguments = nullptr;
    std::int64_t sequence = kAbsent;
    std::uint32_t number = 0;  // equal for texts that differ in nothing but "Seq"
  };
  Read of(EventId event);

 private:
  struct Known {
    Value arguments;
    std::int64_t sequence = kAbsent;
    bool may_differ = false;  // other texts of the same rest have this "Seq" in the same place
  };
  std::uint32_t find(std::string_view text, bool is_cut);

  const Trace& trace_;
  std::deque<Known> known_;
  std::unordered_map<std::string, std::uint32_t> numbers_;  // by the text, or what is left of it
  std::string key_;                                         // of the event asked for
};

}  // namespace tracelens
