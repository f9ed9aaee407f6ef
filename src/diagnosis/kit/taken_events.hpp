// taken_events.hpp: the GPU events that rules have taken, and what a rule's answer owes to them.
//   AskedEvents asked;
//   { const Listening to_this_thread{asked};  draft = rule.find(...); }  // asks taken.has(event)
//   if (taken.has_any(asked)) draft = rule.find(...);                    // more is taken by now: once more
// Several threads may ask as long as nobody takes.
#pragma once

#include <cstddef>
#include <cstdint>
#include <tracelens/trace.hpp>
#include <vector>

namespace tracelens {

// Events that a thread has asked about; each is noted once.
class AskedEvents {
 public:
  void note(EventId event, std::size_t all) {
    if (words_.empty()) words_.resize(all / kBits + 1);
    words_[event.row / kBits] |= std::uint64_t{1} << (event.row % kBits);
  }

 private:
  friend class TakenEvents;
  static constexpr std::size_t kBits = 64;
  std::vector<std::uint64_t> words_;  // a bit for each event; empty: none
};

class Listening {
 public:
  explicit Listening(AskedEvents& asked) { to_ = &asked; }
  ~Listening() { to_ = nullptr; }
  Listening(const Listening&) = delete;
  Listening& operator=(const Listening&) = delete;

 private:
  friend class TakenEvents;
  static inline thread_local AskedEvents* to_ = nullptr;
};

class TakenEvents {
 public:
  explicit TakenEvents(std::size_t events) : size_{events}, words_(events / kBits + 1) {}

  void take(EventId event) { words_[event.row / kBits] |= std::uint64_t{1} << (event.row % kBits); }
  [[nodiscard]] bool has(EventId event) const {
    if (Listening::to_ != nullptr) Listening::to_->note(event, size_);
    return (words_[event.row / kBits] >> (event.row % kBits) & 1) != 0;
  }
  [[nodiscard]] bool has_any(const AskedEvents& asked) const {
    for (std::size_t i = 0; i < asked.words_.size(); ++i)
      if ((asked.words_[i] & words_[i]) != 0) return true;
    return false;
  }

 private:
  static constexpr std::size_t kBits = AskedEvents::kBits;
  std::size_t size_;
  std::vector<std::uint64_t> words_;  // a bit for each event
};

}  // namespace tracelens
