// message.hpp: what a communication kernel's arguments say about its message.
//   const CollectiveMessage message = collective_message(trace.details(kernel));
//   message_mib(message, CollectiveField::kInElements, Edition::kExtended)        // 2.0
// Kernels of equal messages share one, so tables look at each distinct message once.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <tracelens/edition.hpp>
#include <tracelens/table.hpp>
#include <tracelens/value.hpp>

namespace tracelens {

// In the order of their columns in every table of collectives.
enum class CollectiveField : std::uint8_t {
  kGroupName,
  kGroupRanks,
  kCollective,
  kGroupSize,
  kDtype,
  kInElements,
  kOutElements,
  kInSplit,
  kOutSplit,
};
inline constexpr std::size_t kCollectiveFieldCount = 9;

struct CollectiveFieldText {
  const char* name;  // the argument's name, and the column's
  const char* description;
};
[[nodiscard]] const CollectiveFieldText& text_of(CollectiveField field);

inline constexpr const char* kUnknownGroup = "Unknown_Group";  // a kernel that names no group
inline constexpr const char* kOnlyGroup = "all";  // the group of a run that names none at all

struct CollectiveMessage {
  std::array<Value, kCollectiveFieldCount> fields;  // null: the argument is not there
  Value stream;

  [[nodiscard]] const Value& operator[](CollectiveField field) const {
    return fields[static_cast<std::size_t>(field)];
  }
  Value& operator[](CollectiveField field) { return fields[static_cast<std::size_t>(field)]; }
  bool operator==(const CollectiveMessage&) const = default;
};

// From a kernel's arguments (a dict, or null); the stream is left empty. Lists become tuples.
[[nodiscard]] CollectiveMessage collective_message(const Value& arguments);

// Equal for equal messages and for no others.
[[nodiscard]] std::string key_of(const CollectiveMessage& message);

// What the name of an operation stands for.
enum class CollectiveKind : std::uint8_t {
  kUnknown,  // no name, or one that is not known
  kAllReduce,
  kReduceScatter,
  kAllGather,
  kAllToAll,
  kAllToAllV,
  kBroadcast,
  kReduce,
  kGather,
  kScatter,
  kBarrier,
  kPermute,  // each rank sends to another one, all at once
  kSend,
  kReceive,
};
// The reference edition knows only the names that the Python TraceLens sorts into its sheets.
[[nodiscard]] CollectiveKind kind_of(const Value& collective_name, Edition edition);

// No rank leaves before the last has arrived, so the shortest kernel is the true communication.
[[nodiscard]] bool is_synchronizing(CollectiveKind kind);
[[nodiscard]] constexpr bool is_point_to_point(CollectiveKind kind) {
  return kind == CollectiveKind::kSend || kind == CollectiveKind::kReceive;
}
// Bytes each link carries per byte of message, for a group of `size`.
[[nodiscard]] double bus_factor(CollectiveKind kind, double size);

// The reference edition knows the nine types the Python TraceLens has a size for.
[[nodiscard]] std::optional<double> dtype_bytes(const Value& dtype, Edition edition);

// Size in MiB of what a rank sends (kInElements) or receives (kOutElements); none when the type or
// the number of elements sent is not known.
[[nodiscard]] std::optional<double> message_mib(const CollectiveMessage& message,
                                                CollectiveField elements, Edition edition);

// As the tables order keys: numbers, lists, text, each by value, then blanks.
[[nodiscard]] int compare_keys(const Value& a, const Value& b);

}  // namespace tracelens
