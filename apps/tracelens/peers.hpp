// peers.hpp: the other processes, when the program was started by mpirun or srun.
//   const PeersModule module = find_peers();               // empty when started alone
//   const auto files = find_rank_files(inputs, module.get());
// MPI lives in a module of its own (mpi_peers.cpp) that is loaded only then: the program starts
// fast and needs no MPI when nobody asks for it.
#pragma once

#include <memory>
#include <string>
#include <tracelens/collectives.hpp>
#include <vector>

namespace tracelens::app {

// Nothing when this process was started alone. Throws Error when it was not, but there is no MPI
// module beside the program.
[[nodiscard]] std::unique_ptr<Peers> find_peers();

// The list as process 0 sees it, on all processes. Throws the same Error on all of them.
[[nodiscard]] std::vector<RankFile> find_rank_files(const std::vector<std::string>& inputs,
                                                    Peers* peers);

}  // namespace tracelens::app
