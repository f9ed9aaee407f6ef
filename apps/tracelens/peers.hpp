// peers.hpp: the other processes, when the program was started by mpirun or srun.
//   const std::unique_ptr<Peers> peers = find_peers();      // null when started alone
//   return end_together(peers.get(), console, [&] { return make_report_with(peers.get()); });
// MPI lives in a module of its own (mpi_peers.cpp) that is loaded only then: the program starts
// fast and needs no MPI when nobody asks for it.
#pragma once

#include <functional>
#include <memory>
#include <tracelens/collectives.hpp>
#include <vector>

#include "console.hpp"

namespace tracelens::app {

// Nothing when this process was started alone. Throws Error when it was not, but there is no MPI
// module beside the program.
[[nodiscard]] std::unique_ptr<Peers> find_peers();

// The list as process 0 finds it, on all processes. Throws the same Error on all of them.
[[nodiscard]] std::vector<RankFile> same_everywhere(
    Peers* peers, const std::function<std::vector<RankFile>()>& find);

// The exit status of `work`, also when it throws. A launcher ends all processes as soon as one has
// failed, and what that one or another had still to say is lost. So the sentence about an error is
// out before this returns; ~Peers is where all meet, and only then a process may end. An Error is
// met by all processes, or by the first alone when no other needs it any more: the first one tells.
// After anything else others may wait for this process for ever: it tells, and ends them.
[[nodiscard]] int end_together(Peers* peers, const Console& console,
                               const std::function<int()>& work);

}  // namespace tracelens::app
