// test_peers.hpp: several processes of a job as threads of one.
//   as_processes(3, [&](Peers& peers) { ... match_together(share, peers) ... });
#pragma once

#include <barrier>
#include <cstddef>
#include <cstdlib>
#include <functional>
#include <string>
#include <thread>
#include <tracelens/collectives.hpp>
#include <utility>
#include <vector>

namespace tracelens {

class ThreadPeers : public Peers {
 public:
  struct Desk {  // what they hand to each other
    explicit Desk(int count)
        : all_here(count),
          sent(static_cast<std::size_t>(count),
               std::vector<std::string>(static_cast<std::size_t>(count))) {}
    std::barrier<> all_here;
    std::vector<std::vector<std::string>> sent;  // by sender, receiver
  };
  ThreadPeers(int index, int count, Desk& desk) : index_{index}, count_{count}, desk_{desk} {}

  [[nodiscard]] int index() const override { return index_; }
  [[nodiscard]] int count() const override { return count_; }
  [[nodiscard]] std::string broadcast(std::string bytes) override {
    std::vector<std::string> to(static_cast<std::size_t>(count_));
    if (index_ == 0) to.assign(to.size(), bytes);
    return exchange(std::move(to))[0];
  }
  [[nodiscard]] std::vector<std::string> gather(std::string bytes) override {
    std::vector<std::string> to(static_cast<std::size_t>(count_));
    to[0] = std::move(bytes);
    std::vector<std::string> all = exchange(std::move(to));
    return index_ == 0 ? all : std::vector<std::string>{};
  }
  [[nodiscard]] std::vector<std::string> exchange(std::vector<std::string> bytes) override {
    const auto own = static_cast<std::size_t>(index_);
    desk_.sent[own] = std::move(bytes);
    desk_.all_here.arrive_and_wait();
    std::vector<std::string> received;
    for (const auto& from : desk_.sent) received.push_back(from[own]);
    desk_.all_here.arrive_and_wait();
    return received;
  }
  [[noreturn]] void abandon() override { std::abort(); }

 private:
  int index_, count_;
  Desk& desk_;
};

inline void as_processes(int count, const std::function<void(Peers&)>& work) {
  ThreadPeers::Desk desk{count};
  std::vector<std::thread> others;
  for (int i = 1; i < count; ++i)
    others.emplace_back([&, i] {
      ThreadPeers peers{i, count, desk};
      work(peers);
    });
  ThreadPeers first{0, count, desk};
  work(first);
  for (std::thread& other : others) other.join();
}

}  // namespace tracelens
