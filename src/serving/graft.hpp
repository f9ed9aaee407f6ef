// graft.hpp: a copy of the captured calls below a graph launch.
//   Grafter grafter{builder, *capture, Edition::kExtended};
//   grafter.graft(launch, ts, dur, graph, work, pairing.calls);
// Texts, tracks and signatures of a capture are taken over once, its rows are made ready once per
// graph: a launch then costs one append per row.
#pragma once

#include <cstdint>
#include <tracelens/edition.hpp>
#include <tracelens/trace_builder.hpp>
#include <unordered_map>
#include <utility>
#include <vector>

#include "serving/captures.hpp"

namespace tracelens {

// A graph launch of the replay.
struct GraphLaunch {
  EventId call;
  std::int64_t ts_ns = 0, dur_ns = 0;
  std::vector<EventId> work;  // its GPU events, by time
};

class Grafter {
 public:
  // Both must outlive it.
  Grafter(TraceBuilder& builder, const Capture& capture, Edition edition)
      : builder_{builder}, capture_{capture}, edition_{edition} {}

  void graft(const GraphLaunch& launch, std::uint32_t graph, const Pairs& calls);

 private:
  template <class T>
  using Sparse = std::vector<std::pair<std::uint32_t, T>>;  // place in the graph, value
  struct Rows {
    std::vector<EventRow> rows;
    Sparse<std::int64_t> sequences;
    Sparse<StringId> call_stacks, details;
  };
  const Rows& rows_of(std::uint32_t graph);
  StringId take(StringId text);
  TrackId take(TrackId track);
  SignatureId take(SignatureId signature);

  TraceBuilder& builder_;
  const Capture& capture_;
  Edition edition_;
  std::vector<StringId> strings_;        // by the capture's id; invalid: not taken over yet
  std::vector<TrackId> tracks_;          // likewise
  std::vector<SignatureId> signatures_;  // likewise
  std::unordered_map<std::uint32_t, Rows> ready_;
};

}  // namespace tracelens
