#include "analysis/jax/hosts.hpp"

namespace tracelens {

JaxHosts::JaxHosts(const Trace& trace) {
  for (const Track& track : trace.track_table()) {
    if (!track.pid.is_int()) continue;
    std::string& name = names_[number(track.pid)];
    if (!name.empty()) continue;
    // "node7 /device:GPU:0", "node7 /host:CPU"
    const auto process = trace.label({track.pid, Value{0}}, "process_name");
    if (process && process->is_text())
      name = process->as_text().substr(0, process->as_text().find(" /"));
  }
}

std::string_view JaxHosts::name(std::int64_t number) const {
  const auto found = names_.find(number);
  return found == names_.end() ? std::string_view{} : std::string_view{found->second};
}

}  // namespace tracelens
