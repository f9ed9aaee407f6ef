#include "readers/database/nsight_rows.hpp"

namespace tracelens::nsight {

std::string_view plain_call(std::string_view name) {
  std::size_t digits = 0;
  while (digits < name.size() && name[name.size() - 1 - digits] >= '0' &&
         name[name.size() - 1 - digits] <= '9')
    ++digits;
  std::string_view rest = name.substr(0, name.size() - digits);
  if ((digits != 4 && digits != 5) || !rest.ends_with("_v")) return name;
  rest.remove_suffix(2);
  for (const std::string_view suffix : {"_ptsz", "_ptds"})
    if (rest.ends_with(suffix)) return rest.substr(0, rest.size() - suffix.size());
  return rest;
}

// Texts that ranges share are kept apart, numbered as they came up: those of a piece lie together.
void NvtxRows::find_texts(const Connection& connection) {
  if (!file->is_row_number("StringIds", "id")) return;
  std::vector<std::int64_t> ids;
  for (const NvtxRow& row : rows)
    if (!row.has_text && row.text_id != kAbsent) ids.push_back(row.text_id);
  if (ids.empty()) return;
  std::ranges::sort(ids);
  ids.erase(std::unique(ids.begin(), ids.end()), ids.end());
  // Reading a few times as many rows in one go is far cheaper than finding each by itself.
  constexpr std::uint64_t kWorthReading = 8;
  const TableColumns strings{*file, "StringIds", {"id", "value"}};
  const std::uint64_t span =
      static_cast<std::uint64_t>(ids.back()) - static_cast<std::uint64_t>(ids.front());
  if (span < kWorthReading * ids.size()) {
    Statement find = strings.select(connection, " WHERE id BETWEEN ?1 AND ?2");
    find.bind(1, ids.front());
    find.bind(2, ids.back());
    while (find.step() && find.stored_bytes() <= file->most_stored_bytes())
      if (const std::int64_t id = find.integer(0); std::ranges::binary_search(ids, id))
        texts.try_emplace(id, find.text(1));
    return;
  }
  Statement find = strings.select(connection, " WHERE id = ?1");
  for (const std::int64_t id : ids) {
    find.bind(1, id);
    if (find.step()) texts.try_emplace(id, find.text(1));
  }
}

void NvtxRows::complete(const Connection& connection) {
  find_texts(connection);
  for (NvtxRow& row : rows)
    if (const std::string* const text = text_of(row);
        text != nullptr && (row.type == kPushPop || row.type == kTextPushPop))
      row.op = emitted_op(*text);
}

}  // namespace tracelens::nsight
