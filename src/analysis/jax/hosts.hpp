// hosts.hpp: the hosts of a JAX profile, which may be one of many machines.
//   const JaxHosts hosts{trace};
//   if (hosts.are_several()) columns.push_back(kJaxHostColumn);
//   hosts.name(JaxHosts::number(trace, event))         // "node7"
// Every host has its own clock and its own correlation ids: neither compares across hosts.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <tracelens/table.hpp>
#include <tracelens/trace.hpp>

namespace tracelens {

inline constexpr std::int64_t kJaxPidsPerHost = 1000;  // as the reader numbers processes

inline const ColumnSpec kJaxHostColumn{"host", Kind::kText, "", "machine, by its profile's name"};

class JaxHosts {
 public:
  explicit JaxHosts(const Trace& trace);

  // The number of the host that a process runs on.
  [[nodiscard]] static std::int64_t number(const Value& pid) {
    return pid.as_int() / kJaxPidsPerHost;
  }
  [[nodiscard]] static std::int64_t number(const Trace& trace, EventId event) {
    return number(trace.track(event).pid);
  }
  [[nodiscard]] bool are_several() const { return names_.size() > 1; }
  [[nodiscard]] std::size_t size() const { return names_.size(); }
  [[nodiscard]] std::string_view name(std::int64_t number) const;

 private:
  std::map<std::int64_t, std::string> names_;
};

}  // namespace tracelens
