#include "readers/database/rocpd_events.hpp"

#include <tracelens/json.hpp>
#include <utility>

#include "readers/database/lz4_text.hpp"
#include "trace/value_member.hpp"

namespace tracelens {
namespace {

// It may be there and empty.
std::optional<std::string> message_in(std::string_view extdata) {
  const std::optional<std::string> text = unpacked_text(extdata);
  const std::optional<Value> parsed = text ? parse_json_value(*text) : std::nullopt;
  if (!parsed || !member(*parsed, "message").is_text()) return std::nullopt;
  return member(*parsed, "message").as_text();
}

}  // namespace

RocpdEvents::RocpdEvents(const DatabaseFile& file, std::string table)
    : file_{file},
      table_{std::move(table)},
      is_there_{file.has(table_, "id")},
      is_numbered_{file.is_row_number(table_, "id")} {
  if (!is_there_) return;
  if (is_numbered_) return;
  const Connection connection = file.connect();
  Statement events =
      TableColumns{file_, table_, {"id", "category_id", "stack_id", "extdata"}}.select(connection);
  while (events.step()) {
    const std::int64_t id = events.integer(0);
    if (id == kAbsent) continue;
    all_.set(id, {events.integer(1), events.integer(2)});
    if (std::optional<std::string> message = message_in(events.text(3)))
      messages_[id] = std::move(*message);
  }
  is_damaged_ = events.is_damaged();
}

std::optional<std::string> RocpdEvents::message(const Connection& connection,
                                                std::optional<Statement>& find, std::int64_t event,
                                                bool& is_whole) const {
  if (event == kAbsent || !is_there_) return std::nullopt;
  if (!is_numbered_) {
    const auto known = messages_.find(event);
    return known == messages_.end() ? std::nullopt : std::optional{known->second};
  }
  if (!find)
    find.emplace(TableColumns{file_, table_, {"extdata"}}.select(connection, " WHERE id = ?1"));
  find->bind(1, event);
  const bool is_found = find->step();
  is_whole = is_whole && !find->is_damaged();
  return is_found ? message_in(find->text(0)) : std::nullopt;
}

}  // namespace tracelens
