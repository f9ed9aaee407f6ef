#include "peers.hpp"

#include <dlfcn.h>

#include <charconv>
#include <cstdlib>
#include <filesystem>
#include <string_view>
#include <system_error>
#include <tracelens/error.hpp>

namespace tracelens::app {
namespace {

namespace fs = std::filesystem;

constexpr const char* kModule = "libtracelens_mpi.so";
// What comes first in a broadcast list of files.
constexpr char kIsList = '+', kIsError = '!';

int number_in(const char* variable) {
  const char* const text = std::getenv(variable);
  int number = 0;
  if (text != nullptr) std::from_chars(text, text + std::string_view{text}.size(), number);
  return number;
}

// Open MPI's mpirun, other launchers with PMI, and srun with PMIx say so in the environment.
bool was_launched() {
  return number_in("OMPI_COMM_WORLD_SIZE") > 1 || number_in("PMI_SIZE") > 1 ||
         (std::getenv("PMIX_RANK") != nullptr && number_in("SLURM_STEP_NUM_TASKS") > 1);
}

void* load_module() {
  std::error_code error;
  const fs::path folder = fs::read_symlink("/proc/self/exe", error).parent_path();
  for (const fs::path& place : {folder / kModule, folder / TL_MODULE_DIR / kModule})
    if (fs::exists(place, error))
      // Open MPI loads parts of itself later; they look for it among the global symbols.
      if (void* const module = ::dlopen(place.c_str(), RTLD_NOW | RTLD_GLOBAL)) return module;
  return nullptr;
}

}  // namespace

std::unique_ptr<Peers> find_peers() {
  if (!was_launched()) return nullptr;
  void* const module = load_module();
  void* const make = module == nullptr ? nullptr : ::dlsym(module, "tracelens_mpi_peers");
  if (make == nullptr)
    throw Error{"MPI",
                "started as one of several processes, but this build of tracelens has no MPI; "
                "start it alone, or build it where Open MPI is installed"};
  return std::unique_ptr<Peers>{reinterpret_cast<Peers* (*)()>(make)()};
}

std::vector<RankFile> same_everywhere(Peers* peers,
                                      const std::function<std::vector<RankFile>()>& find) {
  if (peers == nullptr) return find();
  std::string list;
  if (peers->index() == 0) {
    try {
      list = kIsList;
      for (const RankFile& file : find()) list.append(file.path).push_back('\0');
    } catch (const Error& error) {
      list = kIsError + std::string{error.what()};
    }
  }
  list = peers->broadcast(std::move(list));
  if (list.starts_with(kIsError)) {
    const std::size_t colon = list.find(": ");
    throw Error{list.substr(1, colon - 1), list.substr(colon + 2)};
  }
  std::vector<RankFile> files;
  for (std::size_t at = 1; at < list.size();) {
    const std::size_t end = list.find('\0', at);
    std::string path = list.substr(at, end - at);
    const auto rank = rank_in_path(path);
    files.push_back({std::move(path), rank});
    at = end + 1;
  }
  return files;
}

int end_together(Peers* peers, const Console& console, const std::function<int()>& work) {
  if (peers == nullptr) return work();
  const auto end_all = [&] {
    const int status = console.tell_exception();
    peers->abandon();
    return status;  // not reached
  };
  try {
    return work();
  } catch (const PeerError&) {
    return end_all();
  } catch (const Error&) {
    if (peers->index() != 0) return kExitBadInput;
    return console.tell_exception();  // stderr is not buffered
  } catch (...) {
    return end_all();
  }
}

}  // namespace tracelens::app
