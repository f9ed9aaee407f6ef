// records.hpp: calls with equal arguments gathered into the records of a replay.
//   RecordBuilder builder{trace, tree};
//   const std::size_t index = builder.record_of(node);   // made when first asked for
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <tracelens/replay.hpp>
#include <tracelens/trace.hpp>
#include <tracelens/tree.hpp>
#include <unordered_map>
#include <vector>

#include "trace/hlo.hpp"

namespace tracelens {

class RecordBuilder {
 public:
  RecordBuilder(const Trace& trace, const Tree& tree);

  // Whether a call can be replayed at all: an op whose arguments were recorded, an HLO op whose
  // module the profile has.
  [[nodiscard]] bool is_replayable(NodeId node) const;
  // Whether this is what somebody calls it: the name of an op, the name, opcode or custom call
  // target of an HLO instruction.
  [[nodiscard]] bool is_called(NodeId node, std::string_view name) const;
  // The record of a call like this one. Call it once for each call: it is counted.
  std::size_t count(NodeId node);
  [[nodiscard]] std::vector<ReplayRecord> finish() &&;

 private:
  // What tells a record from the next: rows of signatures and names.
  using Key = std::vector<std::uint32_t>;
  [[nodiscard]] Key key_of(NodeId node) const;
  [[nodiscard]] ReplayRecord first_seen(NodeId node) const;
  [[nodiscard]] std::size_t find_or_add(NodeId node);
  [[nodiscard]] EventId forward_of(NodeId node) const;
  [[nodiscard]] std::string attention_of(NodeId node) const;
  [[nodiscard]] std::map<std::string, std::uint64_t> ops_below(NodeId node) const;
  // Where the HLO instruction of a node stands.
  struct HloPlace {
    const hlo::Module* module = nullptr;  // null: the node is no HLO op with a module
    hlo::Place place;
  };
  [[nodiscard]] HloPlace hlo_of(NodeId node) const;
  void find_autocast();

  const Trace& trace_;
  const Tree& tree_;
  std::vector<ReplayRecord> records_;
  // Sums by kernel, for the order of a record's kernels.
  std::vector<std::unordered_map<std::uint32_t, std::int64_t>> kernel_ns_;  // by StringId row
  std::map<Key, std::size_t> by_key_;
  std::string autocast_;  // the type autocast worked in; empty: it was off
  std::map<std::string, hlo::Module, std::less<>> modules_;  // of a JAX profile
  std::unordered_map<std::size_t, std::size_t> by_hlo_;      // by the hash of ReplayRecord::hlo
  std::size_t hlo_bytes_ = 0;                                // of all texts made so far
  std::vector<std::uint32_t> casts_before_;  // by node: conversions that ops made of their inputs
};

// The arguments of an op; nothing when they were not recorded.
[[nodiscard]] std::optional<ReplayArguments> arguments_of(const Trace& trace, EventId event);

// One of the texts in such a list of arguments; empty where there is none.
[[nodiscard]] std::string_view text_at(const Value& list, std::size_t i);

}  // namespace tracelens
