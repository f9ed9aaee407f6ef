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
// A text that is not found, be it for damage, is looked up again by whoever needs it, and told then.
void NvtxRows::find_texts(const Connection& connection) {
  if (!file->is_row_number("StringIds", "id")) return;
  std::vector<std::int64_t> ids;
  for (const NvtxRow& row : rows)
    if (!row.has_text && row.text_id != kAbsent) ids.push_back(row.text_id);
  if (ids.empty()) return;
  if (!std::ranges::is_sorted(ids)) std::ranges::sort(ids);
  ids.erase(std::unique(ids.begin(), ids.end()), ids.end());
  constexpr std::size_t kUnknown = static_cast<std::size_t>(-1);
  struct Kept {
    std::size_t at = kUnknown, size = 0;
  };
  std::vector<Kept> found(ids.size());
  const auto keep_text = [&](std::size_t place, std::string_view text) {
    found[place] = {shared_bytes_.size(), text.size()};
    shared_bytes_ += text;
  };
  // Reading a few times as many rows in one go is far cheaper than finding each by itself.
  constexpr std::uint64_t kWorthReading = 8;
  const TableColumns strings{*file, "StringIds", {"id", "value"}};
  const std::uint64_t span =
      static_cast<std::uint64_t>(ids.back()) - static_cast<std::uint64_t>(ids.front());
  if (span < kWorthReading * ids.size()) {
    Statement find = strings.select(connection, " WHERE id BETWEEN ?1 AND ?2");
    find.bind(1, ids.front());
    find.bind(2, ids.back());
    std::size_t place = 0;
    while (find.step() && find.stored_bytes() <= file->most_stored_bytes()) {
      const std::int64_t id = find.integer(0);
      while (place < ids.size() && ids[place] < id) ++place;
      if (place < ids.size() && ids[place] == id) keep_text(place, find.text(1));
    }
  } else {
    Statement find = strings.select(connection, " WHERE id = ?1");
    for (std::size_t place = 0; place < ids.size(); ++place) {
      find.bind(1, ids[place]);
      if (find.step()) keep_text(place, find.text(1));
    }
  }
  std::size_t place = 0;  // of the row before: most rows ask for the next one
  for (NvtxRow& row : rows) {
    if (row.has_text || row.text_id == kAbsent) continue;
    if (ids[place] != row.text_id && (++place == ids.size() || ids[place] != row.text_id))
      place = static_cast<std::size_t>(std::ranges::lower_bound(ids, row.text_id) - ids.begin());
    if (found[place].at == kUnknown) continue;
    row.text = std::string_view{shared_bytes_}.substr(found[place].at, found[place].size);
    row.has_text = true;
  }
}

void NvtxRows::complete(const Connection& connection) {
  std::size_t at = 0;
  const std::string_view bytes{bytes_};
  for (std::size_t i = 0; i < rows.size(); ++i) {
    rows[i].text = bytes.substr(at, sizes_[i].text);
    rows[i].payload = bytes.substr(at + sizes_[i].text, sizes_[i].payload);
    at += sizes_[i].text + sizes_[i].payload;
  }
  find_texts(connection);
  for (NvtxRow& row : rows)
    if (row.has_text && (row.type == kPushPop || row.type == kTextPushPop))
      row.op = emitted_op(row.text);
}

}  // namespace tracelens::nsight
