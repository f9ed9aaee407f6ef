// json_cursor.hpp: walks JSON that a person wrote, so that a complaint can say where.
//   JsonCursor at{text};
//   at.members([&](const JsonCursor::Text& key) { found[key.text] = at.text(); });
//   at.end();
// Every function throws JsonCursor::Failure when the text is not JSON or goes on differently.
// Nothing recurses but the caller.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

namespace tracelens {

class JsonCursor {
 public:
  struct Failure {
    std::size_t at;    // byte of the text
    std::string what;  // half a sentence
  };
  struct Text {
    std::string text;
    std::size_t at = 0;  // of a string the byte after its quote
  };

  explicit JsonCursor(std::string_view text) : text_{text} {}

  // Where the next token starts, and its first byte; '\0' at the end of the text.
  [[nodiscard]] std::size_t place();
  [[nodiscard]] char next();

  // Stands at an object: calls each(key) for its members; `each` goes past the value.
  template <class Each>
  void members(Each&& each) {
    enter('{');
    while (more('}')) {
      const Text key = text();
      expect(':');
      each(key);
    }
  }
  // Stands at an array: calls each() for its items, which goes past the item.
  template <class Each>
  void items(Each&& each) {
    enter('[');
    while (more(']')) each();
  }
  [[nodiscard]] Text text();    // a string, without quotes and escapes
  [[nodiscard]] Text number();  // as it is written
  void end();                   // nothing may follow but white space

 private:
  void enter(char opener);
  bool more(char closer);  // past the comma before the next member, or past the closer
  void expect(char token);

  std::string_view text_;
  std::size_t at_ = 0;
  bool is_first_ = false;  // a container was just entered
};

}  // namespace tracelens
