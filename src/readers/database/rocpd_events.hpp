// rocpd_events.hpp: the table of events of a rocpd process, which the rows of all lists refer to.
//   RocpdEvents events{file, "rocpd_event_0198..."};
//   is_whole = events.find(connection, rows);      // fills row.facts by row.event; from any thread
//   events.message(connection, statement, row.event, is_whole)   // what the program wrote into its marker; likewise
// Events stand in the order of the rows that name them, so that a piece of a list finds its own in one
// range. Where their numbers are no numbers of rows, all of them are kept in memory instead.
#pragma once

#include <algorithm>
#include <cstdint>
#include <limits>
#include <optional>
#include <string>
#include <unordered_map>
#include <vector>

#include "readers/database/connection.hpp"
#include "readers/database/lookup.hpp"
#include "readers/database/table_rows.hpp"

namespace tracelens {

struct EventFacts {
  std::int64_t category = kAbsent, stack = kAbsent;
};

class RocpdEvents {
 public:
  RocpdEvents(const DatabaseFile& file, std::string table);

  // False when some could not be read: the table is damaged.
  template <class Rows>
  [[nodiscard]] bool find(const Connection& connection, Rows& rows) const;
  // `find` is made by the first who asks, and used again; `is_whole` becomes false where the table is damaged.
  [[nodiscard]] std::optional<std::string> message(const Connection& connection,
                                                   std::optional<Statement>& find,
                                                   std::int64_t event, bool& is_whole) const;
  [[nodiscard]] bool is_damaged() const { return is_damaged_; }

 private:
  [[nodiscard]] TableColumns columns() const {
    return {file_, table_, {"id", "category_id", "stack_id"}};
  }

  const DatabaseFile& file_;
  std::string table_;
  bool is_there_, is_numbered_;
  bool is_damaged_ = false;
  ById<EventFacts> all_;
  std::unordered_map<std::int64_t, std::string> messages_;
};

template <class Rows>
bool RocpdEvents::find(const Connection& connection, Rows& rows) const {
  if (!is_there_) return true;
  if (!is_numbered_) {
    for (auto& row : rows)
      if (const EventFacts* const facts = all_.find(row.event)) row.facts = *facts;
    return true;
  }
  std::int64_t least = std::numeric_limits<std::int64_t>::max(), most = kAbsent;
  std::uint64_t count = 0;
  for (const auto& row : rows) {
    if (row.event == kAbsent) continue;
    least = std::min(least, row.event);
    most = std::max(most, row.event);
    ++count;
  }
  if (count == 0) return true;
  const auto place = [least](std::int64_t id) {
    return static_cast<std::uint64_t>(id) - static_cast<std::uint64_t>(least);
  };
  // Reading a few times as many rows in one go is far cheaper than finding each by itself.
  constexpr std::uint64_t kWorthReading = 8;
  if (place(most) < count * kWorthReading) {
    std::vector<EventFacts> facts(place(most) + 1);
    Statement events = columns().select(connection, " WHERE id BETWEEN ?1 AND ?2");
    events.bind(1, least);
    events.bind(2, most);
    while (events.step())
      if (const std::int64_t id = events.integer(0); id >= least && id <= most)
        facts[place(id)] = {events.integer(1), events.integer(2)};
    for (auto& row : rows)
      if (row.event != kAbsent) row.facts = facts[place(row.event)];
    return !events.is_damaged();
  }
  bool is_whole = true;
  Statement one = columns().select(connection, " WHERE id = ?1");
  for (auto& row : rows) {
    if (row.event == kAbsent) continue;
    one.bind(1, row.event);
    if (one.step()) row.facts = {one.integer(1), one.integer(2)};
    is_whole = is_whole && !one.is_damaged();
  }
  return is_whole;
}

}  // namespace tracelens
