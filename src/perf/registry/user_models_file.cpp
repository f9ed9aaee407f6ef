// user_models_file.cpp: reads declarations of models; every complaint says where in the file.
#include <fmt/core.h>

#include <algorithm>
#include <array>
#include <tracelens/error.hpp>

#include "perf/registry/op_registry.hpp"
#include "perf/registry/sheets.hpp"
#include "perf/registry/user_models.hpp"
#include "trace/json_cursor.hpp"

namespace tracelens::perf {
namespace {

using Text = JsonCursor::Text;

class FileReader {
 public:
  FileReader(std::string_view text, std::string_view file) : file_{file}, text_{text} {}

  UserModels read() {
    try {
      if (json_.next() != '{') fail_at(0, R"(expected an object: {"models": [...]})");
      json_.members([this](const Text& key) { read_top(key); });
      json_.end();
    } catch (const JsonCursor::Failure& failure) {
      fail_at(failure.at, fmt::format("not valid JSON ({})", failure.what));
    }
    return std::move(models_);
  }

 private:
  struct RawModel {
    std::size_t at = 0;
    Text op, pattern, category, sheet, compute, flops, bytes, note;
    std::vector<std::pair<Text, Text>> let;
  };
  struct Key {
    std::string_view name;
    Text RawModel::*text;
  };
  static constexpr Key kKeys[] = {{"op", &RawModel::op},
                                  {"pattern", &RawModel::pattern},
                                  {"category", &RawModel::category},
                                  {"sheet", &RawModel::sheet},
                                  {"compute", &RawModel::compute},
                                  {"flops", &RawModel::flops},
                                  {"bytes", &RawModel::bytes},
                                  {"note", &RawModel::note}};

  void read_top(const Text& key) {
    if (key.text != "models")
      fail_at(key.at, fmt::format("unknown key '{}', expected models", key.text));
    if (json_.next() != '[') fail_at(json_.place(), "models: expected an array");
    json_.items([this] { add(read_model()); });
  }

  RawModel read_model() {
    RawModel raw;
    raw.at = json_.place();
    if (json_.next() != '{') fail_at(raw.at, "expected an object");
    json_.members([&](const Text& key) {
      if (key.text == "let") return read_let(raw);
      const auto* const known = std::ranges::find(kKeys, key.text, &Key::name);
      if (known == std::end(kKeys))
        fail_at(key.at, fmt::format("unknown key '{}', expected op, pattern, category, sheet, let, "
                                    "flops, bytes, compute or note",
                                    key.text));
      raw.*known->text = text_or_number();
    });
    return raw;
  }

  void read_let(RawModel& raw) {
    if (json_.next() != '{')
      fail_at(json_.place(), "let: expected an object of names and expressions");
    json_.members([&](const Text& name) { raw.let.emplace_back(name, text_or_number()); });
  }

  // Checks a whole declaration.
  void add(const RawModel& raw) {
    if (raw.op.text.empty() == raw.pattern.text.empty())
      fail_at(raw.at, "a model needs either op or pattern");
    if (raw.category.text.empty()) fail_at(raw.at, "a model needs a category");
    if (raw.flops.text.empty() && raw.bytes.text.empty())
      fail_at(raw.at, "a model needs flops, bytes or both");
    UserModel::Declaration declared;
    declared.op = raw.op.text;
    declared.pattern = raw.pattern.text;
    declared.category = raw.category.text;
    declared.sheet = sheet_of(raw);
    declared.compute = compute_of(raw.compute);
    for (const auto& [name, value] : raw.let) {
      if (!Expression::is_free_name(name.text) ||
          std::ranges::find(declared.names, name.text) != declared.names.end())
        fail_at(name.at,
                fmt::format("'{}' cannot be given a value: it is taken or is no name", name.text));
      declared.values.push_back(expression(value, declared.names));
      declared.names.push_back(name.text);
    }
    if (!raw.flops.text.empty()) declared.flops = expression(raw.flops, declared.names);
    if (!raw.bytes.text.empty()) declared.bytes = expression(raw.bytes, declared.names);
    const Text& name = raw.op.text.empty() ? raw.pattern : raw.op;
    try {
      if (!models_.add(std::make_shared<const UserModel>(std::move(declared))))
        fail_at(name.at, fmt::format("a second model for '{}'", name.text));
    } catch (const Reason& reason) {
      fail_at(name.at, fmt::format("not a regular expression: {}", reason.text));
    }
  }

  // The op is listed on the sheet it names; without one on that of its category, if there is one.
  std::string sheet_of(const RawModel& raw) const {
    const auto is_sheet = [](const Text& text) { return find_sheet(text.text) != nullptr; };
    if (raw.sheet.text.empty()) return is_sheet(raw.category) ? raw.category.text : "";
    if (is_sheet(raw.sheet)) return raw.sheet.text;
    fail_at(raw.sheet.at, fmt::format("no sheet '{}', expected one of {}", raw.sheet.text,
                                      sheet_names(Edition::kExtended)));
  }

  std::string compute_of(const Text& compute) const {
    constexpr std::array<std::string_view, 9> kPrecisions = {"fp64", "fp32", "tf32", "fp16", "bf16",
                                                             "fp8",  "fp6",  "fp4",  "int8"};
    const std::string_view spec = compute.text;
    if (spec.empty() || spec == "matrix" || spec == "vector") return compute.text;
    const std::size_t split = spec.find('_');
    const std::string_view unit = spec.substr(0, split);
    if (split != std::string_view::npos && (unit == "matrix" || unit == "vector") &&
        std::ranges::find(kPrecisions, spec.substr(split + 1)) != kPrecisions.end())
      return compute.text;
    fail_at(compute.at, fmt::format("compute: expected matrix, vector, or one with a precision "
                                    "such as matrix_bf16, found '{}'",
                                    spec));
  }

  Expression expression(const Text& text, std::span<const std::string> names) const {
    try {
      return Expression::parse(text.text, names);
    } catch (const Expression::SyntaxError& error) {
      fail_at(text.at + error.offset, error.text);  // exact, since formulas need no JSON escapes
    }
  }

  Text text_or_number() {
    const char first = json_.next();
    if (first == '"') return json_.text();
    if (first != '-' && (first < '0' || first > '9'))
      fail_at(json_.place(), "expected text in quotes or a number");
    return json_.number();
  }

  [[noreturn]] void fail_at(std::size_t at, const std::string& what) const {
    const std::string_view before = text_.substr(0, at);
    const auto line = std::ranges::count(before, '\n') + 1;
    const std::size_t line_start = before.rfind('\n') + 1;  // npos + 1 is 0
    throw Error{file_,
                fmt::format("line {}, column {}: {}", line, before.size() - line_start + 1, what)};
  }

  std::string file_;
  std::string_view text_;
  JsonCursor json_{text_};
  UserModels models_;
};

}  // namespace

UserModels read_user_models(std::string_view text, std::string_view file) {
  return FileReader{text, file}.read();
}

}  // namespace tracelens::perf
