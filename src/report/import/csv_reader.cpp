#include "report/import/csv_reader.hpp"

#include <utility>
#include <vector>

#include "report/import/csv_kinds.hpp"
#include "table/formula_text.hpp"

namespace tracelens {
namespace {

// Takes one record after the other off a text.
class Records {
 public:
  explicit Records(std::string_view text) : rest_{text} {
    // More than one where programs that put one in front have passed the file on.
    while (rest_.starts_with("\xEF\xBB\xBF")) rest_.remove_prefix(3);
  }

  // False at the end. A blank line is no record.
  bool next(std::vector<std::string>& fields) {
    while (!rest_.empty() && (rest_.front() == '\n' || rest_.front() == '\r'))
      rest_.remove_prefix(1);
    fields.clear();
    if (rest_.empty()) return false;
    while (take_field(fields.emplace_back())) continue;
    return true;
  }

 private:
  // Whether another field of the same record follows.
  bool take_field(std::string& field) {
    while (!rest_.empty()) {
      const char c = rest_.front();
      rest_.remove_prefix(1);
      if (c == ',') return true;
      if (c == '\n') return false;
      if (c == '\r' && (rest_.empty() || rest_.front() == '\n')) continue;
      if (c == '"' && field.empty())
        take_quoted(field);
      else
        field.push_back(c);
    }
    return false;
  }

  // Past the closing quote, or to the end of the text when there is none.
  void take_quoted(std::string& field) {
    while (!rest_.empty()) {
      const std::size_t quote = rest_.find('"');
      field += rest_.substr(0, quote);
      if (quote == std::string_view::npos) {
        rest_ = {};
        return;
      }
      rest_.remove_prefix(quote + 1);
      if (rest_.empty() || rest_.front() != '"') return;
      field.push_back('"');
      rest_.remove_prefix(1);
    }
  }

  std::string_view rest_;
};

}  // namespace

Table read_csv_table(std::string name, std::string_view text, Edition edition) {
  const auto written = [edition](std::string_view field) {
    return edition == Edition::kReference ? field : unguarded_text(field);
  };
  LooseTable loose{.name = std::move(name)};
  Records records{text};
  records.next(loose.header);
  if (loose.header.size() == 1 && loose.header.front().empty()) loose.header.clear();
  for (std::string& column : loose.header) column = std::string{written(column)};
  loose.columns.resize(loose.header.size());
  std::vector<std::string> fields;
  while (records.next(fields))
    for (std::size_t i = 0; i < loose.columns.size(); ++i)
      loose.columns[i].push_back(i < fields.size() ? cell_of_text(written(fields[i]))
                                                   : Cell{Missing{}});
  return typed_table(std::move(loose));
}

}  // namespace tracelens
