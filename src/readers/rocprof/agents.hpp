// agents.hpp: the CPUs and GPUs of one process, by the handles its records have for them.
//   RocprofAgents agents{run};
//   agents.set_table(entries of "agents", host);
//   agents.find(handle).label                      // "GPU-0"
#pragma once

#include <cstdint>
#include <string>
#include <tracelens/value.hpp>
#include <unordered_map>
#include <vector>

#include "readers/rocprof/run.hpp"

namespace tracelens {

class RocprofAgents {
 public:
  struct Agent {
    std::string label;        // "GPU-0"
    std::int64_t number = 0;  // among the agents of its type
    bool is_gpu = false;
  };

  explicit RocprofAgents(RocprofRun& run) : run_{run} {}

  // `host` is equal for processes of one machine.
  void set_table(const std::vector<Value>& agents, const std::string& host);
  // What runs a kernel or is one end of a device's copy is a GPU, also where the file does not list
  // its agents: those are numbered as they come.
  void number_gpu(std::int64_t handle);
  [[nodiscard]] Agent find(std::int64_t handle) const;

 private:
  RocprofRun& run_;
  std::unordered_map<std::int64_t, Agent> agents_;
};

}  // namespace tracelens
