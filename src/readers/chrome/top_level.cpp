#include "readers/chrome/top_level.hpp"

#include <fmt/format.h>

#include <tracelens/error.hpp>

#include "readers/chrome/json_scan.hpp"
#include "readers/chrome/stray_controls.hpp"
#include "trace/json_value.hpp"

namespace tracelens::kineto {
namespace {

constexpr std::string_view kBom = "\xEF\xBB\xBF";

}  // namespace

// One `"key": value`, as far as the text goes.
struct TopLevel::Member {
  std::string_view key;
  const char* value = nullptr;  // nullptr: the text ends before it
  const char* after = nullptr;  // nullptr: the text ends inside it

  // `p` is at the opening quote of the key. False when this is not a member at all.
  bool read(const char* p, const char* end) {
    const char* const quote = json::find_quote(p + 1, end);
    if (quote == nullptr) return true;
    key = {p + 1, static_cast<std::size_t>(quote - p - 1)};
    p = json::skip_space(quote + 1, end);
    if (p < end && *p != ':') return false;
    if (p < end) p = json::skip_space(p + 1, end);
    if (p >= end) return true;
    value = p;
    after = json::skip_value(p, end);
    if (after == end) after = nullptr;  // a number may go on
    return after != nullptr || *p == '"' || *p == '{' || *p == '[' || json::skip_scalar(p) == end;
  }
};

std::size_t TopLevel::open(std::string_view text, bool at_end) {
  const char* const begin = text.data();
  const char* const end = begin + text.size();
  const auto offset = [begin](const char* p) { return static_cast<std::size_t>(p - begin); };
  const auto fail = [&](const char* p, std::string_view what) -> Error {
    const std::string found = p >= end ? "the end of the file" : fmt::format("'{}'", *p);
    return {file_, fmt::format("byte {}: {}, found {}", offset(p), what, found)};
  };
  const auto list_begins_at = [&](const char* p) {
    count_controls(text.substr(0, offset(p)), 0);
    return offset(p);
  };
  const char* p = begin + at_;
  if (at_ == 0) {
    if (text.starts_with(kBom)) p += kBom.size();
    p = json::skip_space(p, end);
    if (p == end && at_end) throw Error{file_, "the file is empty"};
    if (p == end) return kNeedMore;
    if (*p == '[') {
      is_bare_list_ = true;
      return list_begins_at(p + 1);
    }
    if (*p != '{') throw fail(p, "not a trace: expected '{' or '['");
    ++p;
  }
  for (;;) {
    do p = json::skip_space(p, end);
    while (*p == ',' && p++ < end);
    at_ = offset(p);
    if (p < end && *p == '}')
      throw Error{file_, "this JSON is not a trace: it has no \"traceEvents\" list"};
    if (p < end && *p != '"') throw fail(p, "not a trace: expected a member name in quotes");
    Member member;
    const bool sound = p >= end || member.read(p, end);
    if (!sound) throw fail(p, "not a trace: expected \"name\": value");
    if (member.key == "traceEvents" && member.value != nullptr) {
      if (*member.value != '[')
        throw fail(member.value, "\"traceEvents\" is not a list: expected '['");
      return list_begins_at(member.value + 1);
    }
    if (member.after == nullptr) {
      if (at_end)
        throw Error{file_, fmt::format("the file ends at byte {} before its event list "
                                       "(\"traceEvents\") begins",
                                       text.size())};
      return kNeedMore;
    }
    keep(member);
    p = member.after;
  }
}

void TopLevel::count_controls(std::string_view text, std::uint64_t first_byte) {
  StrayControls controls;
  controls.count(text, first_byte, StrayControls::kInStringsToo);
  controls.add_to(builder_.warnings());
}

void TopLevel::keep(const Member& member) {
  if (member.key == "traceEvents")
    return builder_.warnings().add("second event list, which is not read", 0);
  const std::string_view raw{member.value, static_cast<std::size_t>(member.after - member.value)};
  builder_.add_metadata(unescape_json(member.key), parse_json_value(raw).value_or(Value{}));
}

bool TopLevel::close(std::string_view text) {
  count_controls(text, builder_.source().text_bytes - text.size());
  const char* p = text.data();
  const char* const end = p + text.size();
  const auto finish = [&] {  // `p` is behind the trace
    if (json::skip_space(p, end) != end)
      builder_.warnings().add("text behind the trace, which is not read",
                              builder_.source().text_bytes - static_cast<std::uint64_t>(end - p));
    return true;
  };
  if (is_bare_list_) return finish();
  for (;;) {
    do p = json::skip_space(p, end);
    while (*p == ',' && p++ < end);
    if (p < end && *p == '}') {
      ++p;
      return finish();
    }
    if (p >= end || *p != '"') return false;
    Member member;
    if (!member.read(p, end) || member.after == nullptr) return false;
    keep(member);
    p = member.after;
  }
}

}  // namespace tracelens::kineto
