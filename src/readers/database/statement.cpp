#include "readers/database/statement.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <tracelens/error.hpp>

namespace tracelens {

Error renamed(const Error& error, const std::string& name) {
  const std::string_view what{error.what()};
  return {name, std::string{what.substr(std::min(what.find(": ") + 2, what.size()))}};
}

Statement::Statement(Connection connection, const std::string& sql)
    : connection_{std::move(connection)} {
  try {
    held_ = db::prepare(connection_.get(), "database", sql);
  } catch (const Error& error) {
    throw renamed(error, "database: not a sound database");
  }
}

void Statement::bind(int parameter, std::int64_t value) {
  sqlite3_reset(held_.get());
  is_damaged_ = false;
  stored_bytes_ = 0;
  sqlite3_bind_int64(held_.get(), parameter, value);
}

bool Statement::step() {
  if (is_damaged_) return false;
  const int status = sqlite3_step(held_.get());
  if (status == SQLITE_ROW) {
    constexpr std::uint64_t kLeastRow = 4;  // its place in the page, size, number, head
    stored_bytes_ += kLeastRow;
    return true;
  }
  if (status == SQLITE_INTERRUPT)
    throw Error{"database", "reading took longer than the time limit"};
  is_damaged_ = status != SQLITE_DONE;
  // A page whose cells were found wrong stays in the cache as one that was looked at, and passes the
  // next time: what a connection reads must not depend on what it has read before.
  if (is_damaged_) sqlite3_db_release_memory(connection_.get());
  return false;
}

std::int64_t Statement::other_integer(int column) const {
  if (sqlite3_column_type(held_.get(), column) != SQLITE_FLOAT) return kAbsent;
  const double value = sqlite3_column_double(held_.get(), column);
  constexpr double kTwo63 = 9223372036854775808.0;
  if (std::isnan(value) || std::trunc(value) != value || value < -kTwo63 || value >= 2 * kTwo63)
    return kAbsent;
  if (value < kTwo63) return static_cast<std::int64_t>(value);
  return static_cast<std::int64_t>(static_cast<std::uint64_t>(value));
}

void Statement::integers(std::span<std::int64_t> into) const {
  for (std::size_t cell = 0; cell < into.size(); ++cell)
    into[cell] = integer(static_cast<int>(cell));
}

double Statement::real(int cell) const {
  const int column = column_of(cell);
  if (column < 0) return std::numeric_limits<double>::quiet_NaN();
  const int type = sqlite3_column_type(held_.get(), column);
  if (type != SQLITE_FLOAT && type != SQLITE_INTEGER)
    return std::numeric_limits<double>::quiet_NaN();
  return sqlite3_column_double(held_.get(), column);
}

std::string_view Statement::text(int cell) const {
  const int column = column_of(cell);
  if (column < 0) return {};
  const std::string_view text = db::text_of(held_.get(), column);
  stored_bytes_ += text.size();
  return text;
}

std::string_view Statement::blob(int cell) const {
  const int column = column_of(cell);
  if (column < 0) return {};
  const std::string_view blob = db::blob_of(held_.get(), column);
  stored_bytes_ += blob.size();
  return blob;
}

}  // namespace tracelens
