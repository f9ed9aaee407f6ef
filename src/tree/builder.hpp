// builder.hpp: makes a Tree out of a Trace; use build_tree() of <tracelens/tree.hpp>.
// Host events nest by time, thread by thread (nesting.hpp). A thread's events fall into segments wherever
// nothing is open: those become trees that follow each other, and are nested by several threads, once it is known
// how many nodes each has. Where the trace says who called an event, GivenParents writes the tree anew.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <span>
#include <tracelens/trace.hpp>
#include <tracelens/tree.hpp>
#include <vector>

#include "tree/autograd.hpp"
#include "tree/category_rows.hpp"
#include "tree/host_rows.hpp"
#include "tree/links.hpp"
#include "tree/nesting.hpp"

namespace tracelens {

// The host events in order of time, with Python frames or, where the tree has none, without.
using FindHostRows = std::function<const HostRows&()>;

class TreeBuilder {
 public:
  // `host` is asked once, while other parts are found; it and its answer must outlive the builder.
  TreeBuilder(const Trace& trace, const TreeOptions& options, const CategoryRows& rows,
              const FindHostRows& host);
  [[nodiscard]] Tree build() &&;

 private:
  struct Segment {
    std::span<const std::uint32_t> rows;  // in order of time
    NestingCounts before = {};
    NestingNotes notes = {};
  };
  // What the nodes are made of; each part is found out beside the others.
  void find_parts();
  void cut_tracks();
  void cut_track(std::span<const std::uint32_t> rows, std::vector<Segment>& segments) const;
  void place_segments();
  [[nodiscard]] NestingCounts write_segments(const Nesting& nesting, const NodeColumns& columns);
  [[nodiscard]] bool is_worth_sharing() const;
  NodeColumns make_room();
  // What follows from the nodes; each for itself.
  void list_roots();
  void list_op_roots();
  void link_autograd();

  const Trace& trace_;
  const CategoryRows& rows_;
  const FindHostRows& find_host_;
  const HostRows* host_ = nullptr;
  TreeOptions options_;  // of nesting by time
  int threads_;
  bool wants_frames_;
  Launches launches_;
  std::vector<AutogradLink> autograd_;
  std::vector<Segment> segments_;
  Tree tree_;
};

// Whether Python frames take part in the nesting by time: what the trace says of parents may hang from
// them, even if the tree is to have none.
[[nodiscard]] inline bool nests_frames(const Trace& trace, const TreeOptions& options) {
  return options.python_frames || !trace.given_parents().empty();
}

// build_tree() where the rows are known already.
[[nodiscard]] Tree build_tree(const Trace& trace, const TreeOptions& options,
                              const CategoryRows& rows, const FindHostRows& host);

}  // namespace tracelens
