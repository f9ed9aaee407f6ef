// xla_collectives.hpp: what the HLO of a JAX profile says about the messages of its collectives.
//   const XlaCollectives xla{trace};
//   if (const XlaCollective* op = xla.of(trace.signatures()[kernel.row])) use(op->message);
#pragma once

#include <memory>
#include <string>
#include <tracelens/trace.hpp>
#include <vector>

#include "analysis/ranks/message.hpp"

namespace tracelens {

struct XlaCollective {
  std::string name;  // "jit_step/all-gather.12"
  // What a rank sends: elements and type of all operands together. Its groups are those of the HLO,
  // of all devices (device_groups.hpp).
  CollectiveMessage message;
};

// Each op of the trace is looked at once; a trace without HLO has none.
class XlaCollectives {
 public:
  explicit XlaCollectives(const Trace& trace);
  // By the signature of an op or a kernel; nullptr when it is no collective.
  [[nodiscard]] const XlaCollective* of(SignatureId signature) const {
    return signature.valid() && signature.row < ops_.size() ? ops_[signature.row].get() : nullptr;
  }

 private:
  std::vector<std::unique_ptr<XlaCollective>> ops_;  // by signature; empty without HLO
};

}  // namespace tracelens
