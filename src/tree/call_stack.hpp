// call_stack.hpp: the calls open on one thread while its events pass in order of time.
//   CallStack<NodeId> stack;
//   if (stack.make_room(start, end, on_close) != Room::kNone) stack.push(end, node);
//   stack.close_all(on_close);
// Here, and nowhere else, stands the rule of which event is called by which.
#pragma once

#include <cstdint>
#include <vector>

#include "tree/time_math.hpp"

namespace tracelens {

// What an event finds when it begins.
enum class Room : std::uint8_t {
  kInside,  // it ends before the innermost open call, or nothing is open
  kBeside,  // it outlasts that call by so little that it counts as called by the call's caller
  kNone,    // it outlasts its caller: no call tree has a place for it
};

template <class Call>
class CallStack {
 public:
  [[nodiscard]] bool empty() const { return open_.empty(); }
  [[nodiscard]] const Call& top() const { return open_.back().call; }

  // Closes what has ended by `start` and says where an event until `end` belongs. `on_close` gets
  // each call that is closed, innermost first.
  template <class OnClose>
  Room make_room(std::int64_t start, std::int64_t end, OnClose&& on_close) {
    while (!open_.empty() && start >= open_.back().end_ns) close_top(on_close);
    if (open_.empty() || end <= open_.back().end_ns) return Room::kInside;
    const auto left = static_cast<std::uint64_t>(minus_ns(open_.back().end_ns, start));
    if (left >= kBleedNs || open_.size() < 2) return Room::kNone;
    close_top(on_close);
    return Room::kBeside;
  }
  void push(std::int64_t end, const Call& call) { open_.push_back({end, call}); }
  template <class OnClose>
  void close_all(OnClose&& on_close) {
    while (!open_.empty()) close_top(on_close);
  }

 private:
  // Clocks are read one after the other: a call may seem to begin inside the one that has just
  // ended, by less than this.
  static constexpr std::uint64_t kBleedNs = 1000;

  struct Open {
    std::int64_t end_ns;
    Call call;
  };
  template <class OnClose>
  void close_top(OnClose& on_close) {
    on_close(open_.back().call);
    open_.pop_back();
  }

  std::vector<Open> open_;
};

}  // namespace tracelens
