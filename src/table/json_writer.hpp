// json_writer.hpp: a JSON document, written from left to right.
//   JsonWriter json;
//   json.open('{');
//   json.member("title", "a \"b\"");
//   json.key("share"), json.number(12.5);
//   json.close('}');
//   std::string text = json.take();
#pragma once

#include <fmt/format.h>

#include <cmath>
#include <cstdint>
#include <string>
#include <string_view>
#include <tracelens/json.hpp>
#include <utility>

namespace tracelens {

class JsonWriter {
 public:
  void open(char bracket) {
    separate();
    out_ += bracket;
    is_first_ = true;
  }
  void close(char bracket) {
    out_ += bracket;
    is_first_ = false;
  }
  void key(std::string_view name) {
    separate();
    append_json_text(out_, name);
    out_ += ": ";
    is_first_ = true;  // the value follows without a comma
  }
  void text(std::string_view value) {
    separate();
    append_json_text(out_, value);
  }
  void text_or_null(std::string_view value) {
    if (value.empty())
      raw("null");
    else
      text(value);
  }
  // What is no finite number is null.
  void number(double value) {
    raw(std::isfinite(value) ? fmt::format("{}", value) : std::string{"null"});
  }
  void integer(std::int64_t value) { raw(fmt::format("{}", value)); }
  void truth(bool value) { raw(value ? "true" : "false"); }
  void raw(std::string_view json) {  // a value, as JSON already
    separate();
    out_ += json;
  }

  void member(std::string_view name, std::string_view value) {
    key(name);
    text(value);
  }
  void member(std::string_view name, std::int64_t value) {
    key(name);
    integer(value);
  }
  template <class Texts>
  void texts(std::string_view name, const Texts& values) {
    key(name);
    open('[');
    for (const std::string& value : values) text(value);
    close(']');
  }
  void line() { out_ += "\n  "; }  // for people who look at it

  [[nodiscard]] std::string take() { return std::move(out_); }

 private:
  void separate() {
    if (!is_first_) out_ += ", ";
    is_first_ = false;
  }
  std::string out_;
  bool is_first_ = true;
};

}  // namespace tracelens
