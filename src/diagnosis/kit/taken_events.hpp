// taken_events.hpp: the GPU events that rules have taken, and what a rule's answer owes to them.
//   EventSet asked;
//   { const Listening to_this_thread{asked};  draft = rule.find(...); }  // asks taken.has(event)
//   if (taken.has_any(asked)) draft = rule.find(...);                    // more is taken by now: once more
// Several threads may ask as long as nobody takes. Only the thread that listens is listened to: a rule that
// asked by other threads, or in what is made once for all rules, would not be asked again.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <tracelens/trace.hpp>
#include <vector>

namespace tracelens {

class EventSet {
 public:
  void add(EventId event) {
    const std::size_t word = event.row / kBits;
    if (word >= words_.size()) words_.resize(word + 1);
    words_[word] |= bit_of(event);
  }
  [[nodiscard]] bool has(EventId event) const {
    const std::size_t word = event.row / kBits;
    return word < words_.size() && (words_[word] & bit_of(event)) != 0;
  }
  [[nodiscard]] bool meets(const EventSet& other) const {
    for (std::size_t i = 0; i < std::min(words_.size(), other.words_.size()); ++i)
      if ((words_[i] & other.words_[i]) != 0) return true;
    return false;
  }

 private:
  static constexpr std::uint32_t kBits = 64;
  [[nodiscard]] static std::uint64_t bit_of(EventId event) {
    return std::uint64_t{1} << (event.row % kBits);
  }
  std::vector<std::uint64_t> words_;
};

class Listening {
 public:
  explicit Listening(EventSet& asked) { to_ = &asked; }
  ~Listening() { to_ = nullptr; }
  Listening(const Listening&) = delete;
  Listening& operator=(const Listening&) = delete;

 private:
  friend class TakenEvents;
  static inline thread_local EventSet* to_ = nullptr;
};

class TakenEvents {
 public:
  void take(EventId event) { events_.add(event); }
  [[nodiscard]] bool has(EventId event) const {
    if (Listening::to_ != nullptr) Listening::to_->add(event);
    return events_.has(event);
  }
  [[nodiscard]] bool has_any(const EventSet& asked) const { return events_.meets(asked); }

 private:
  EventSet events_;
};

}  // namespace tracelens
