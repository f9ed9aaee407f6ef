// The module libtracelens_mpi.so: Peers over MPI. Loaded by peers.cpp when a launcher was used.
#define OMPI_SKIP_MPICXX 1
#define MPICH_SKIP_MPICXX 1
#include <mpi.h>

#include <algorithm>
#include <cstdint>
#include <cstdlib>
#include <string>
#include <tracelens/collectives.hpp>
#include <vector>

namespace tracelens {
namespace {

constexpr std::uint64_t kLargestPart = std::uint64_t{1} << 30;  // MPI counts in int
constexpr int kTag = 1;
constexpr int kExitBadInput = 2;  // as in console.hpp

class MpiPeers : public Peers {
 public:
  MpiPeers() {
    int given = 0;
    // Threads read traces, but only this one talks to MPI.
    MPI_Init_thread(nullptr, nullptr, MPI_THREAD_FUNNELED, &given);
    MPI_Comm_rank(MPI_COMM_WORLD, &index_);
    MPI_Comm_size(MPI_COMM_WORLD, &count_);
  }
  // Nobody leaves before all have come: see end_together (peers.hpp).
  ~MpiPeers() override {
    MPI_Barrier(MPI_COMM_WORLD);
    MPI_Finalize();
  }

  [[nodiscard]] int index() const override { return index_; }
  [[nodiscard]] int count() const override { return count_; }

  std::string broadcast(std::string bytes) override {
    std::uint64_t size = bytes.size();
    MPI_Bcast(&size, 1, MPI_UINT64_T, 0, MPI_COMM_WORLD);
    bytes.resize(size);
    in_parts(size, [&](std::uint64_t at, int part) {
      MPI_Bcast(bytes.data() + at, part, MPI_CHAR, 0, MPI_COMM_WORLD);
    });
    return bytes;
  }

  std::vector<std::string> gather(std::string bytes) override {
    const std::uint64_t size = bytes.size();
    std::vector<std::uint64_t> sizes(index_ == 0 ? static_cast<std::size_t>(count_) : 0);
    MPI_Gather(&size, 1, MPI_UINT64_T, sizes.data(), 1, MPI_UINT64_T, 0, MPI_COMM_WORLD);
    if (index_ != 0) {
      in_parts(size, [&](std::uint64_t at, int part) {
        MPI_Send(bytes.data() + at, part, MPI_CHAR, 0, kTag, MPI_COMM_WORLD);
      });
      return {};
    }
    std::vector<std::string> all(sizes.size());
    all[0] = std::move(bytes);
    for (int from = 1; from < count_; ++from) {
      std::string& part_of = all[static_cast<std::size_t>(from)];
      part_of.resize(sizes[static_cast<std::size_t>(from)]);
      in_parts(part_of.size(), [&](std::uint64_t at, int part) {
        MPI_Recv(part_of.data() + at, part, MPI_CHAR, from, kTag, MPI_COMM_WORLD,
                 MPI_STATUS_IGNORE);
      });
    }
    return all;
  }

  std::vector<std::string> exchange(std::vector<std::string> bytes) override {
    const auto count = static_cast<std::size_t>(count_);
    std::vector<std::uint64_t> sent(count), received(count);
    for (std::size_t i = 0; i < count; ++i) sent[i] = bytes[i].size();
    MPI_Alltoall(sent.data(), 1, MPI_UINT64_T, received.data(), 1, MPI_UINT64_T, MPI_COMM_WORLD);
    std::vector<std::string> all(count);
    std::vector<MPI_Request> requests;
    for (int from = 0; from < count_; ++from) {
      std::string& part_of = all[static_cast<std::size_t>(from)];
      if (from == index_) {
        part_of = std::move(bytes[static_cast<std::size_t>(from)]);
        continue;
      }
      part_of.resize(received[static_cast<std::size_t>(from)]);
      in_parts(part_of.size(), [&](std::uint64_t at, int part) {
        MPI_Irecv(part_of.data() + at, part, MPI_CHAR, from, kTag, MPI_COMM_WORLD,
                  &requests.emplace_back());
      });
    }
    for (int to = 0; to < count_; ++to) {
      const std::string& part_of = bytes[static_cast<std::size_t>(to)];
      if (to == index_) continue;
      in_parts(part_of.size(), [&](std::uint64_t at, int part) {
        MPI_Isend(part_of.data() + at, part, MPI_CHAR, to, kTag, MPI_COMM_WORLD,
                  &requests.emplace_back());
      });
    }
    MPI_Waitall(static_cast<int>(requests.size()), requests.data(), MPI_STATUSES_IGNORE);
    return all;
  }

  [[noreturn]] void abandon() override {
    MPI_Abort(MPI_COMM_WORLD, kExitBadInput);
    std::abort();  // not reached
  }

 private:
  template <class Move>
  static void in_parts(std::uint64_t size, Move&& move) {
    for (std::uint64_t at = 0; at < size; at += kLargestPart)
      move(at, static_cast<int>(std::min(kLargestPart, size - at)));
  }

  int index_ = 0, count_ = 1;
};

}  // namespace
}  // namespace tracelens

extern "C" tracelens::Peers* tracelens_mpi_peers() { return new tracelens::MpiPeers; }
