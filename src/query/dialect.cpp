#include "query/dialect.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cctype>
#include <tracelens/error.hpp>
#include <tracelens/query.hpp>
#include <vector>

#include "database/plain_names.hpp"
#include "io/ascii.hpp"
#include "sqlite/names.hpp"

namespace tracelens::query {
namespace {

// Their tables and views are always there.
constexpr std::string_view kModules[] = {"slices.with_context", "prelude.slices"};

bool is_space(char c) { return c == ' ' || c == '\t' || c == '\n' || c == '\r' || c == '\f'; }
bool is_word(char c) {
  const auto byte = static_cast<unsigned char>(c);
  return byte >= 0x80 || std::isalnum(byte) != 0 || c == '_' || c == '$';
}

// The first piece of SQL: white space or a comment, something in quotes, a word, or one sign.
struct Piece {
  enum class Kind { kBlank, kQuoted, kWord, kSign };
  Kind kind;
  std::string_view text;
};

std::size_t end_of_quoted(std::string_view sql) {
  const char close = sql[0] == '[' ? ']' : sql[0];
  for (std::size_t i = 1; i < sql.size(); ++i) {
    if (sql[i] != close) continue;
    if (close != ']' && i + 1 < sql.size() && sql[i + 1] == close)
      ++i;
    else
      return i + 1;
  }
  return sql.size();
}

Piece first_piece(std::string_view sql) {
  const auto upto = [&](std::size_t end, Piece::Kind kind) {
    return Piece{kind, sql.substr(0, std::min(end, sql.size()))};
  };
  const char c = sql[0];
  if (is_space(c) || sql.starts_with("\xef\xbb\xbf")) {
    std::size_t end = is_space(c) ? 1 : 3;
    while (end < sql.size() && is_space(sql[end])) ++end;
    return upto(end, Piece::Kind::kBlank);
  }
  if (sql.starts_with("--")) {
    const std::size_t end = sql.find('\n');
    return upto(end == sql.npos ? sql.size() : end + 1, Piece::Kind::kBlank);
  }
  if (sql.starts_with("/*")) {
    const std::size_t end = sql.find("*/", 2);
    return upto(end == sql.npos ? sql.size() : end + 2, Piece::Kind::kBlank);
  }
  if (c == '\'' || c == '"' || c == '`' || c == '[')
    return upto(end_of_quoted(sql), Piece::Kind::kQuoted);
  if (!is_word(c)) return upto(1, Piece::Kind::kSign);
  std::size_t end = 1;
  while (end < sql.size() && is_word(sql[end])) ++end;
  return upto(end, Piece::Kind::kWord);
}

// The pieces that are no blanks, one after the other.
class Pieces {
 public:
  explicit Pieces(std::string_view sql) : rest_{sql} { skip_blanks(); }
  [[nodiscard]] std::optional<Piece> next() {
    if (rest_.empty()) return std::nullopt;
    const Piece piece = first_piece(rest_);
    rest_.remove_prefix(piece.text.size());
    skip_blanks();
    return piece;
  }
  // Takes the word if it is the next one, whatever its case.
  bool take(std::string_view word) {
    if (rest_.empty() || io::lower_case(first_piece(rest_).text) != word) return false;
    (void)next();
    return true;
  }
  [[nodiscard]] std::string_view rest() const { return rest_; }

 private:
  void skip_blanks() {
    while (!rest_.empty()) {
      const Piece piece = first_piece(rest_);
      if (piece.kind != Piece::Kind::kBlank) return;
      rest_.remove_prefix(piece.text.size());
    }
  }
  std::string_view rest_;
};

std::string included_module(Pieces& pieces) {
  std::string name;
  while (const auto piece = pieces.next()) name += piece->text;
  if (std::ranges::find(kModules, name) == std::end(kModules))
    throw Error{"INCLUDE PERFETTO MODULE", fmt::format("there is no module {}; known are {}", name,
                                                       fmt::join(kModules, ", "))};
  return {};
}

// Behind CREATE [OR REPLACE] PERFETTO.
std::string created(Pieces& pieces, bool replaces) {
  const auto kind = pieces.next();
  const std::string what = kind ? io::lower_case(kind->text) : "";
  if (what != "table" && what != "view")
    throw Error{"CREATE PERFETTO", fmt::format("{} is not supported; tables and views are",
                                               kind ? std::string{kind->text} : "nothing")};
  const auto name = pieces.next();
  if (!name) throw Error{"CREATE PERFETTO", "expected a name"};
  std::string_view body = pieces.rest();
  if (body.starts_with('(')) {  // the types of its columns, which SQLite finds out itself
    int depth = 0;
    do {
      const auto piece = pieces.next();
      if (!piece) throw Error{"CREATE PERFETTO", "expected ')'"};
      if (piece->text == "(") ++depth;
      if (piece->text == ")") --depth;
    } while (depth > 0);
    body = pieces.rest();
  }
  const std::string drop =
      replaces ? fmt::format("DROP {} IF EXISTS temp.{};", what, name->text) : "";
  return fmt::format("{}CREATE TEMP {} {} {}", drop, what, name->text, body);
}

}  // namespace

std::optional<std::string_view> next_statement(std::string_view& rest) {
  while (!rest.empty()) {
    const Piece piece = first_piece(rest);
    if (piece.kind != Piece::Kind::kBlank && piece.text != ";") break;
    rest.remove_prefix(piece.text.size());
  }
  if (rest.empty()) return std::nullopt;
  std::size_t end = 0;
  while (end < rest.size()) {
    const Piece piece = first_piece(rest.substr(end));
    if (piece.text == ";") break;
    end += piece.text.size();
  }
  const std::string_view statement = rest.substr(0, end);
  rest.remove_prefix(std::min(end + 1, rest.size()));
  return statement;
}

std::string plain_sql(std::string_view statement) {
  Pieces pieces{statement};
  if (pieces.take("include") && pieces.take("perfetto") && pieces.take("module"))
    return included_module(pieces);
  pieces = Pieces{statement};
  if (!pieces.take("create")) return std::string{statement};
  const bool replaces = pieces.take("or") && pieces.take("replace");
  if (pieces.take("virtual"))
    throw Error{"CREATE VIRTUAL TABLE", "is not supported, nor are SPAN_JOIN and the like"};
  if (!pieces.take("perfetto")) return std::string{statement};
  return created(pieces, replaces);
}

std::optional<std::string> with_name(std::string_view statement, std::string_view title,
                                     std::string_view name) {
  const std::string wanted = db::quoted_name(title);
  std::string out;
  bool found = false;
  for (std::string_view rest = statement; !rest.empty();) {
    const Piece piece = first_piece(rest);
    const bool is_it = piece.kind == Piece::Kind::kQuoted && piece.text == wanted;
    out += is_it ? db::quoted_name(name) : std::string{piece.text};
    found = found || is_it;
    rest.remove_prefix(piece.text.size());
  }
  return found ? std::optional{std::move(out)} : std::nullopt;
}

}  // namespace tracelens::query

namespace tracelens {

bool ends_statement(std::string_view text) {
  using namespace query;
  bool ended = false;
  while (!text.empty()) {
    const Piece piece = first_piece(text);
    if (piece.kind != Piece::Kind::kBlank) ended = piece.text == ";";
    text.remove_prefix(piece.text.size());
  }
  return ended;
}

}  // namespace tracelens
