// user_models_file.cpp: reads declarations of models; every complaint says where in the file.
#include <fmt/core.h>
#include <simdjson.h>

#include <algorithm>
#include <array>
#include <tracelens/error.hpp>

#include "io/text_file.hpp"
#include "perf/registry/op_registry.hpp"
#include "perf/registry/sheets.hpp"
#include "perf/registry/user_models.hpp"

namespace tracelens::perf {
namespace {

namespace ondemand = simdjson::ondemand;
using Field = simdjson::simdjson_result<ondemand::field>;

// A string, or a number as it is written, and where it starts: after the quote.
struct Text {
  std::string text;
  const char* at = nullptr;
};

class FileReader {
 public:
  FileReader(std::string_view text, std::string_view file) : file_{file}, text_{text} {}

  UserModels read() {
    ondemand::document document;
    try {
      document = parser_.iterate(text_);
      if (document.type() != ondemand::json_type::object)
        fail_at(text_.data(), R"(expected an object: {"models": [...]})");
      for (Field field : document.get_object()) read_top(field);
      const char* rest = nullptr;  // the parser stands nowhere once the text is used up
      if (document.current_location().get(rest) == simdjson::SUCCESS)
        fail_at(rest, "expected the end of the file");
    } catch (const simdjson::simdjson_error& error) {
      fail_at(place(document), fmt::format("not valid JSON ({})", error.what()));
    }
    return std::move(models_);
  }

 private:
  struct RawModel {
    const char* at = nullptr;
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

  void read_top(Field field) {
    const Text key = key_of(field);
    if (key.text != "models")
      fail_at(key.at, fmt::format("unknown key '{}', expected models", key.text));
    ondemand::value list = field.value();
    if (list.type() != ondemand::json_type::array)
      fail_at(list.raw_json_token().data(), "models: expected an array");
    for (auto item : list.get_array()) {
      ondemand::value model = item.value();
      add(read_model(model));
    }
  }

  RawModel read_model(ondemand::value model) {
    RawModel raw;
    raw.at = model.raw_json_token().data();
    if (model.type() != ondemand::json_type::object) fail_at(raw.at, "expected an object");
    for (Field field : model.get_object()) {
      const Text key = key_of(field);
      ondemand::value value = field.value();
      if (key.text == "let") {
        read_let(value, raw);
        continue;
      }
      const auto* const known = std::ranges::find(kKeys, key.text, &Key::name);
      if (known == std::end(kKeys))
        fail_at(key.at, fmt::format("unknown key '{}', expected op, pattern, category, sheet, let, "
                                    "flops, bytes, compute or note",
                                    key.text));
      raw.*known->text = text_of(value);
    }
    return raw;
  }

  void read_let(ondemand::value let, RawModel& raw) {
    if (let.type() != ondemand::json_type::object)
      fail_at(let.raw_json_token().data(), "let: expected an object of names and expressions");
    for (Field field : let.get_object()) {
      Text name = key_of(field);
      ondemand::value value = field.value();
      raw.let.emplace_back(std::move(name), text_of(value));
    }
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
      if (!models_.add(std::make_unique<const UserModel>(std::move(declared))))
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

  Text key_of(Field& field) const {
    const char* const at = field.key().value().raw();
    return {std::string{std::string_view{field.unescaped_key()}}, at};
  }

  Text text_of(ondemand::value& value) const {
    const std::string_view token = value.raw_json_token();
    switch (value.type()) {
      case ondemand::json_type::string:
        return {std::string{std::string_view{value.get_string()}}, token.data() + 1};
      case ondemand::json_type::number: {
        [[maybe_unused]] const double checked = value.get_double();
        return {std::string{token.substr(0, token.find_first_of(" \t\r\n"))}, token.data()};
      }
      default:
        fail_at(token.data(), "expected text in quotes or a number");
    }
  }

  // Where the parser stands; the end of the file when it got that far or never began.
  const char* place(ondemand::document& document) const {
    const char* at = nullptr;
    if (!document.is_alive() || document.current_location().get(at) != simdjson::SUCCESS)
      at = text_.data() + text_.size();
    return at;
  }

  [[noreturn]] void fail_at(const char* at, const std::string& what) const {
    const std::string_view before{text_.data(), static_cast<std::size_t>(at - text_.data())};
    const auto line = std::ranges::count(before, '\n') + 1;
    const std::size_t line_start = before.rfind('\n') + 1;  // npos + 1 is 0
    throw Error{file_,
                fmt::format("line {}, column {}: {}", line, before.size() - line_start + 1, what)};
  }

  std::string file_;
  simdjson::padded_string text_;
  ondemand::parser parser_;
  UserModels models_;
};

}  // namespace

UserModels read_user_models(std::string_view text, std::string_view file) {
  return FileReader{text, file}.read();
}

UserModels load_user_models(const std::string& file) {
  return file.empty() ? UserModels{} : read_user_models(io::read_text_file(file), file);
}

}  // namespace tracelens::perf
