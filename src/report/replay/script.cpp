// The script: the parts of data/replay/torch or jax, with common.py and the records put in.
#include <fmt/format.h>

#include <algorithm>
#include <tracelens/json.hpp>
#include <tracelens/printed_text.hpp>
#include <tracelens/replay.hpp>
#include <tracelens/version.hpp>

#include "io/check.hpp"
#include "io/code_points.hpp"
#include "report/replay/names.hpp"
#include "report/replay/template.hpp"

namespace tracelens {
namespace {

double us(std::int64_t ns) { return static_cast<double>(ns) / 1e3; }

void append_member(std::string& out, std::string_view key, const Value& value) {
  append_json_text(out, key);
  out += ": ";
  append_json(out, value);
}

// An argument list that was not recorded is an empty one.
const Value& list_or_empty(const Value& value) {
  static const Value kEmpty = Value::list({});
  return value.is_sequence() ? value : kEmpty;
}

// "[1, -2.5]", "True", "(0,1j)": numbers, and nothing that could be a name.
bool is_plain_value(std::string_view text) {
  constexpr std::string_view kBetween = "[](), ", kWords[] = {"True", "False", "true", "false",
                                                              "None", "inf",   "-inf", "nan"};
  while (!text.empty()) {
    const std::size_t begin = text.find_first_not_of(kBetween);
    if (begin == text.npos) return true;
    const std::string_view word = text.substr(begin, text.find_first_of(kBetween, begin) - begin);
    const bool is_number = word.find_first_not_of("0123456789+-.eEj") == word.npos &&
                           word.find_first_of("0123456789") != word.npos;
    if (!is_number && std::ranges::find(kWords, word) == std::end(kWords)) return false;
    text.remove_prefix(begin + word.size());
  }
  return true;
}

// Texts among the arguments stay in the trace: engines pass the names of layers.
Value plain_values(const Value& concrete) {
  std::vector<Value> items;
  for (const Value& item : concrete.items())
    items.push_back(is_plain_value(item.as_text()) ? item : Value{""});
  return Value::list(std::move(items));
}

void append_arguments(std::string& out, const ReplayArguments& call, ScriptNames& names) {
  append_member(out, "op", names.of(call.op));
  for (const auto& [key, value] :
       {std::pair{"Input type", &call.types}, std::pair{"Input Dims", &call.dims},
        std::pair{"Input Strides", &call.strides}}) {
    out += ", ";
    append_member(out, key, list_or_empty(*value));
  }
  out += ", ";
  append_member(out, "Concrete Inputs", plain_values(call.concrete));
}

void append_trace_figures(std::string& out, const ReplayRecord& record, bool with_names) {
  out +=
      fmt::format(R"("trace": {{"kernel_time_us_mean": {:.3f}, "kernel_time_us_sum": {:.3f})",
                  us(record.kernel_ns) / static_cast<double>(record.count), us(record.kernel_ns));
  if (record.launches) out += fmt::format(R"(, "launches": {})", *record.launches);
  if (with_names) {
    std::vector<Value> names;
    for (const std::string& kernel : record.kernels) names.emplace_back(kernel);
    out += ", ";
    append_member(out, "kernels", Value::list(std::move(names)));
  }
  out += '}';
}

void append_record(std::string& out, const ReplayRecord& record, std::size_t id, ScriptNames& names,
                   bool with_kernels) {
  out += fmt::format(R"({{"id": {}, "uid": {}, "count": {}, )", id, record.uid, record.count);
  if (record.hlo.empty()) {
    append_arguments(out, record.call, names);
  } else {
    append_member(out, "op", record.call.op);
    out += ", \"hlo\": " + record.hlo;
  }
  const std::string source = names.of_file(record.source);
  for (const auto& [key, text] :
       {std::pair{"list type", &record.list_type}, std::pair{"copy", &record.copy},
        std::pair{"autocast", &record.autocast}, std::pair{"attention", &record.attention},
        std::pair{"source", &source}})
    if (!text->empty()) {
      out += ", ";
      append_member(out, key, *text);
    }
  if (record.forward) {
    out += R"(, "forward": {)";
    append_arguments(out, *record.forward, names);
    out += '}';
  }
  if (!record.below.empty()) {
    out += R"(, "below": {)";
    for (const auto& [name, count] : record.below) {
      if (out.back() != '{') out += ", ";
      append_json_text(out, name);
      out += fmt::format(": {}", count);
    }
    out += '}';
  }
  out += ", ";
  append_trace_figures(out, record, with_kernels);
  out += '}';
}

// JSON in printable ASCII: nothing that a terminal obeys or that turns the reading direction, and no
// quote, which could end Python's r'''...'''.
std::string plain_json(std::string_view json) {
  constexpr char32_t kBeyond16Bits = 0x10000;
  std::string out;
  for (std::size_t at = 0; at < json.size();) {
    const auto [value, valid] = io::next_code_point(json, at);
    if (!valid)
      out += "\\ufffd";
    else if (value < 0x7f && value != '\'')
      out += static_cast<char>(value);
    else if (value < kBeyond16Bits)
      out += fmt::format("\\u{:04x}", static_cast<std::uint32_t>(value));
    else  // in two halves
      out += fmt::format("\\u{:04x}\\u{:04x}",
                         0xd800 + (static_cast<std::uint32_t>(value - kBeyond16Bits) >> 10),
                         0xdc00 + (static_cast<std::uint32_t>(value - kBeyond16Bits) & 0x3ff));
  }
  return out;
}

std::string header(const Replay& replay, const ReplayScriptOptions& options) {
  // Not the name of the trace's file: profilers put the host's name into it.
  std::string out = fmt::format("{} op{} of a trace", replay.records.size(),
                                replay.records.size() == 1 ? "" : "s");
  if (!replay.gpu.empty()) out += fmt::format(", recorded on {}", single_line(replay.gpu));
  out += fmt::format(".\n# Made by tracelens {}", kVersion);
  if (!options.date.empty()) out += fmt::format(" on {}", options.date);
  return out + ".";
}

void replace_once(std::string& text, std::string_view mark, std::string_view by) {
  const std::size_t at = text.find(mark);
  TL_CHECK(at != std::string::npos);
  text.replace(at, mark.size(), by);
}

// One file: what the template imports from common.py comes in its place.
void insert_common(std::string& script) {
  const std::size_t begin = script.find("from common import");
  TL_CHECK(begin != std::string::npos);
  const std::size_t end = script.find(")\n", begin);
  TL_CHECK(end != std::string::npos);
  script.replace(begin, end + 2 - begin, replay_common());
}

}  // namespace

std::string replay_data(const Replay& replay, bool kernel_names) {
  ScriptNames names{kernel_names};
  std::string out = "{\"records\": [";
  for (std::size_t i = 0; i < replay.records.size(); ++i) {
    out += i == 0 ? "\n" : ",\n";
    append_record(out, replay.records[i], i, names, kernel_names);
  }
  out += "\n], \"sequences\": [";
  for (std::size_t i = 0; i < replay.sequences.size(); ++i) {
    const ReplaySequence& sequence = replay.sequences[i];
    out += i == 0 ? "\n{" : ",\n{";
    append_member(out, "name", sequence.name);
    out += fmt::format(R"(, "kernel_time_us": {:.3f}, "ids": [{}]}})", us(sequence.kernel_ns),
                       fmt::join(sequence.records, ", "));
  }
  return plain_json(out + "]}");
}

std::string replay_script(const Replay& replay, const ReplayScriptOptions& options) {
  std::string script{replay.is_jax ? replay_jax_template() : replay_template()};
  insert_common(script);
  replace_once(script, "@HEADER@", header(replay, options));
  if (options.data_file.empty()) {
    replace_once(script, R"({"records": []})", replay_data(replay, options.kernel_names));
  } else {
    std::string name;
    append_json_text(name, options.data_file);
    replace_once(script, R"(json.loads(r'''{"records": []}'''))",
                 "json.load(open(beside(" + name + "), encoding=\"utf-8\"))");
  }
  return script;
}

}  // namespace tracelens
