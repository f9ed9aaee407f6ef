#include "readers/chrome/stray_controls.hpp"

#include <fmt/format.h>

#include <cctype>
#include <iterator>

#include "readers/chrome/json_scan.hpp"

namespace tracelens {
namespace {

// Calls each(byte, is_in_string, is_after_backslash) for every byte of JSON text that begins between
// two tokens.
template <class Each>
void walk(std::string_view text, Each&& each) {
  bool in_string = false, escaped = false;
  for (const char c : text) {
    each(c, in_string, escaped);
    if (!in_string || (!escaped && c == '"')) {
      in_string = !in_string && c == '"';
      escaped = false;
    } else {
      escaped = !escaped && c == '\\';
    }
  }
}

}  // namespace

void StrayControls::count(std::string_view text, std::uint64_t first_byte, Which which) {
  std::uint64_t byte = first_byte;
  walk(text, [&](char c, bool in_string, bool) {
    const bool is_damage =
        in_string && which == kInStringsToo ? json::is_control(c) : json::is_stray_control(c);
    if (is_damage) (c == '\0' ? nuls_ : others_).add({1, byte});
    ++byte;
  });
}

void StrayControls::add(const StrayControls& of_later_text) {
  nuls_.add(of_later_text.nuls_);
  others_.add(of_later_text.others_);
}

void StrayControls::add_to(Warnings& warnings) const {
  const auto add = [&](std::string_view what, const Found& found) {
    if (found.count > 0) warnings.add(what, found.first_byte, found.count);
  };
  add("NUL byte: here the file holds no text, and what stood there is lost", nuls_);
  add("control character that JSON text must not have", others_);
}

bool cuts_a_value(std::string_view json) {
  const auto is_part = [](char c) {
    return std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '.';
  };
  bool cuts = false, after_stray = false;
  char before = ' ';
  walk(json, [&](char c, bool in_string, bool) {
    const bool is_stray = !in_string && json::is_stray_control(c);
    cuts = cuts || (is_stray && is_part(before)) || (after_stray && !in_string && is_part(c));
    after_stray = is_stray;
    before = in_string ? ' ' : c;
  });
  return cuts;
}

std::string with_escaped_controls(std::string_view json) {
  std::string out;
  walk(json, [&](char c, bool in_string, bool escaped) {
    if (in_string && json::is_control(c))
      fmt::format_to(std::back_inserter(out), "{}u{:04x}", escaped ? "" : "\\",
                     static_cast<unsigned char>(c));
    else
      out.push_back(json::is_stray_control(c) ? ' ' : c);
  });
  return out;
}

}  // namespace tracelens
