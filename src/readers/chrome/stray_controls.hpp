// stray_controls.hpp: control characters that stand in JSON text as they are. JSON allows none but
// white space between tokens: they are damage. A page of NUL bytes is a part of the file that never
// reached the disk.
//   StrayControls found;
//   found.count(text, first_byte, StrayControls::kInStringsToo);
//   found.add_to(warnings);
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <tracelens/trace.hpp>

namespace tracelens {

class StrayControls {
 public:
  enum Which : std::uint8_t {
    kNoWhiteSpace,  // what is damage wherever it stands
    kInStringsToo,  // also white space in strings; the text begins between two tokens
  };
  // `first_byte` is the place of `text` in the file.
  void count(std::string_view text, std::uint64_t first_byte, Which which);
  void add(const StrayControls& of_later_text);
  void add_to(Warnings& warnings) const;

 private:
  struct Found {
    std::uint64_t count = 0, first_byte = 0;
    void add(const Found& later) {
      if (count == 0) first_byte = later.first_byte;
      count += later.count;
    }
  };
  Found nuls_, others_;
};

// Whether a control character stands right beside a number or word outside of strings: it may have
// taken the place of a digit.
[[nodiscard]] bool cuts_a_value(std::string_view json);

// The text of a JSON value with the control characters in its strings as JSON writes them, \u0009,
// and blanks for those between its tokens.
[[nodiscard]] std::string with_escaped_controls(std::string_view json);

}  // namespace tracelens
