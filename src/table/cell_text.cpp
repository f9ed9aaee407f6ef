// cell_text.cpp: the Python, CSV and JSON forms of cells and nested values.
#include <tracelens/json.hpp>
#include <tracelens/table_text.hpp>

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <iterator>
#include <vector>

#include "io/numbers.hpp"
#include "table/utf8.hpp"

namespace tracelens {
namespace {

// Writes a tree of values in the words of `Dialect`, with a stack of our own.
template <class Dialect, class Out>
void append_nested(Out& out, const Value& root) {
  struct Open {
    const Value* value;
    std::size_t next;  // the item to write next
  };
  fmt::basic_memory_buffer<Open, 16> open;
  const auto begin = [&](const Value& value) {
    if (value.is_sequence() || value.kind() == Value::Kind::kDict) {
      out += Dialect::opening(value.kind());
      open.push_back({&value, 0});
    } else {
      Dialect::append_scalar(out, value);
    }
  };
  begin(root);
  while (open.size() > 0) {
    Open& last = open[open.size() - 1];
    const Value& value = *last.value;
    const std::size_t item = last.next++;
    if (item == value.items().size()) {
      out += Dialect::closing(value);
      open.resize(open.size() - 1);
      continue;
    }
    if (item > 0) out += Dialect::kComma;
    if (value.kind() == Value::Kind::kDict) {
      Dialect::append_text(out, value.keys()[item]);
      out += Dialect::kColon;
    }
    begin(value.items()[item]);  // may move `open`: nothing of this round is used after it
  }
}

struct Python {
  static constexpr std::string_view kComma = ", ", kColon = ": ";

  static char opening(Value::Kind kind) {
    return kind == Value::Kind::kTuple ? '(' : kind == Value::Kind::kList ? '[' : '{';
  }
  static std::string_view closing(const Value& value) {
    if (value.kind() == Value::Kind::kTuple) return value.items().size() == 1 ? ",)" : ")";
    return value.kind() == Value::Kind::kList ? "]" : "}";
  }

  static void append_scalar(std::string& out, const Value& value) {
    switch (value.kind()) {
      case Value::Kind::kBool:
        out += value.as_bool() ? "True" : "False";
        break;
      case Value::Kind::kInt:
        io::append_integer(out, value.as_int());
        break;
      case Value::Kind::kReal:
        out += io::shortest_double(value.as_real());
        break;
      case Value::Kind::kText:
        append_text(out, value.as_text());
        break;
      default:
        out += "None";
    }
  }

  static void append_text(std::string& out, std::string_view text) {
    const bool has_single = text.find('\'') != std::string_view::npos;
    const bool has_double = text.find('"') != std::string_view::npos;
    const char quote = has_single && !has_double ? '"' : '\'';
    out.push_back(quote);
    const auto is_itself = [quote](char c) {
      return c >= ' ' && c <= '~' && c != quote && c != '\\';
    };
    for (std::size_t at = 0; at < text.size();) {
      const std::size_t start = at;
      while (at < text.size() && is_itself(text[at])) ++at;
      if (at > start) {
        out.append(text, start, at - start);
        continue;
      }
      const CodePoint point = next_code_point(text, at);
      if (!point.valid)
        append_escaped(out, 0xDC00 + point.value);  // Python's stand-in for a byte it cannot decode
      else if (point.value == static_cast<char32_t>(quote) || point.value == U'\\')
        out.append({'\\', static_cast<char>(point.value)});
      else if (is_printable(point.value))
        out.append(text, start, at - start);
      else
        append_escaped(out, point.value);
    }
    out.push_back(quote);
  }

 private:
  static void append_escaped(std::string& out, char32_t point) {
    const auto number = static_cast<std::uint32_t>(point);
    auto into = std::back_inserter(out);
    if (point == U'\n')
      out += "\\n";
    else if (point == U'\r')
      out += "\\r";
    else if (point == U'\t')
      out += "\\t";
    else if (point < 0x100)
      fmt::format_to(into, "\\x{:02x}", number);
    else if (point < 0x10000)
      fmt::format_to(into, "\\u{:04x}", number);
    else
      fmt::format_to(into, "\\U{:08x}", number);
  }
};

struct Json {
  static constexpr std::string_view kComma = ", ", kColon = ": ";

  static char opening(Value::Kind kind) { return kind == Value::Kind::kDict ? '{' : '['; }
  static char closing(const Value& value) { return value.kind() == Value::Kind::kDict ? '}' : ']'; }

  static void append_real(std::string& out, double value) {
    out += std::isfinite(value) ? io::shortest_double(value) : "null";
  }

  static void append_scalar(std::string& out, const Value& value) {
    switch (value.kind()) {
      case Value::Kind::kBool:
        out += value.as_bool() ? "true" : "false";
        break;
      case Value::Kind::kInt:
        io::append_integer(out, value.as_int());
        break;
      case Value::Kind::kReal:
        append_real(out, value.as_real());
        break;
      case Value::Kind::kText:
        append_text(out, value.as_text());
        break;
      default:
        out += "null";
    }
  }

  static void append_text(std::string& out, std::string_view text) {
    const ValidUtf8 valid{text};
    out.push_back('"');
    for (const char c : valid.view()) {
      if (c == '"' || c == '\\')
        out.append({'\\', c});
      else if (c == '\n')
        out += "\\n";
      else if (c == '\t')
        out += "\\t";
      else if (static_cast<unsigned char>(c) < 0x20)
        fmt::format_to(std::back_inserter(out), "\\u{:04x}", static_cast<unsigned>(c));
      else
        out.push_back(c);
    }
    out.push_back('"');
  }
};

// No text of Python's, only how many bytes it may have.
struct PythonRoom : Python {
  struct Bytes {
    std::size_t count = 0;
    Bytes& operator+=(std::string_view text) {
      count += text.size();
      return *this;
    }
    Bytes& operator+=(char) {
      ++count;
      return *this;
    }
  };
  static void append_scalar(Bytes& out, const Value& value) {
    constexpr std::size_t kLongestNumber = 32;
    if (value.is_text())
      append_text(out, value.as_text());
    else
      out.count += kLongestNumber;
  }
  static void append_text(Bytes& out, std::string_view text) {
    constexpr std::size_t kMostOfAByte = 6;  // of one that is no text: \\udcff
    out.count += kMostOfAByte * text.size() + 2;
  }
};

}  // namespace

std::string python_repr(const Value& value) {
  std::string out;
  append_nested<Python>(out, value);
  return out;
}

std::string plain_text(const Table::Column& column, std::size_t row) {
  if (column.is_missing(row)) return {};
  switch (column.spec().kind) {
    case Kind::kText:
      return std::string{ValidUtf8{column.texts()[row]}.view()};
    case Kind::kInteger:
      return fmt::format_int{column.integers()[row]}.str();
    case Kind::kBool:
      return column.integers()[row] != 0 ? "True" : "False";
    case Kind::kReal:
      return io::shortest_double(column.reals()[row]);
    case Kind::kNested: {
      const Value& value = column.nested()[row];
      if (value.is_text()) return std::string{ValidUtf8{value.as_text()}.view()};
      return python_repr(value);
    }
  }
  return {};
}

std::size_t most_plain_bytes(const Table::Column& column, std::size_t row) {
  if (column.is_missing(row)) return 0;
  PythonRoom::Bytes bytes;
  if (column.spec().kind == Kind::kText)
    PythonRoom::append_text(bytes, column.texts()[row]);
  else if (column.spec().kind == Kind::kNested)
    append_nested<PythonRoom>(bytes, column.nested()[row]);
  else
    PythonRoom::append_scalar(bytes, {});
  return bytes.count;
}

void append_csv_cell(std::string& out, const Table::Column& column, std::size_t row) {
  switch (column.spec().kind) {
    case Kind::kText:
      append_csv_text(out, column.texts()[row]);
      break;
    case Kind::kNested:
      append_csv_text(out, plain_text(column, row));
      break;
    default:
      out += plain_text(column, row);  // numbers and words need no quotes
  }
}

void append_csv_text(std::string& out, std::string_view text) {
  const ValidUtf8 valid{text};
  const auto needs_quotes = [](char c) { return c == ',' || c == '"' || c == '\n' || c == '\r'; };
  if (std::ranges::none_of(valid.view(), needs_quotes)) {
    out += valid.view();
    return;
  }
  out.push_back('"');
  std::string_view rest = valid.view();
  for (std::size_t quote; (quote = rest.find('"')) != rest.npos; rest.remove_prefix(quote + 1))
    out.append(rest, 0, quote).append("\"\"");
  out.append(rest).push_back('"');
}

void append_json_cell(std::string& out, const Table::Column& column, std::size_t row) {
  if (column.is_missing(row)) {
    out += "null";
    return;
  }
  switch (column.spec().kind) {
    case Kind::kText:
      Json::append_text(out, column.texts()[row]);
      break;
    case Kind::kInteger:
      io::append_integer(out, column.integers()[row]);
      break;
    case Kind::kBool:
      out += column.integers()[row] != 0 ? "true" : "false";
      break;
    case Kind::kReal:
      Json::append_real(out, column.reals()[row]);
      break;
    case Kind::kNested:
      append_nested<Json>(out, column.nested()[row]);
      break;
  }
}

void append_json(std::string& out, const Value& value) { append_nested<Json>(out, value); }

std::string json_text(const Value& value) {
  std::string text;
  append_json(text, value);
  return text;
}

void append_json_text(std::string& out, std::string_view text) { Json::append_text(out, text); }

}  // namespace tracelens
