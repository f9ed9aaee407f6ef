// group_match.hpp: the kernels of one process group, matched across its ranks.
//   const GroupMatch match = match_group(members, kinds, parts);
//   match.places[part][k]                    // which collective of the group the k-th kernel is
// It needs nothing of the ranks but what is here: any process that was sent these can do it.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <unordered_map>
#include <vector>

#include "analysis/ranks/matching.hpp"
#include "analysis/ranks/message.hpp"

namespace tracelens {

// Messages of different ranks that may belong to one collective have equal texts.
struct MessageKind {
  std::string message = {};    // operation, type, and sizes where all ranks have the same
  std::string operation = {};  // operation and type alone
  CollectiveKind collective = CollectiveKind::kUnknown;
};
[[nodiscard]] MessageKind message_kind(const CollectiveMessage& message);

// Equal kinds have equal numbers.
class MessageKinds {
 public:
  std::uint32_t number_of(MessageKind kind);
  [[nodiscard]] const std::vector<MessageKind>& all() const { return all_; }

 private:
  std::vector<MessageKind> all_;
  std::unordered_map<std::string, std::uint32_t> numbers_;
};

// The kernels of one rank in one group, by start; of equal starts in file order.
struct RankPart {
  std::uint32_t rank = 0;   // index among all ranks
  std::int64_t number = 0;  // RankTrace::rank
  struct Kernel {
    std::int64_t ts_ns = 0, dur_ns = 0, sequence = kAbsent, peer = kAbsent;
    std::uint32_t kernel = 0;  // RankTrace::kernels
    std::uint32_t kind = 0;    // MessageKinds::all
  };
  std::vector<Kernel> kernels = {};
};

struct GroupMatch {
  MatchedBy matched_by = MatchedBy::kOrder;
  struct Place {
    std::uint32_t index = 0;
    bool is_apart = false;  // Collective::is_apart
  };
  std::vector<std::vector<Place>> places = {};  // by part, kernel of the part
  std::vector<Transfer> transfers = {};         // their group is left 0
};

// `parts` by rank. The result does not depend on how kinds are numbered.
[[nodiscard]] GroupMatch match_group(std::span<const std::int64_t> members,
                                     std::span<const MessageKind> kinds,
                                     std::span<const RankPart> parts);

}  // namespace tracelens
