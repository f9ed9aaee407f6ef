#include "readers/chrome/event_texts.hpp"

#include <algorithm>
#include <utility>

#include "readers/chrome/json_scan.hpp"

namespace tracelens {
namespace {

constexpr std::size_t kBlock = std::size_t{1} << 20;
// An element that has not ended after this much text never will: a quote is missing.
constexpr std::size_t kLongestElement = std::size_t{64} << 20;

}  // namespace

EventTexts::EventTexts(io::Stream& in) : in_{in}, top_{in.name(), builder_} {
  std::size_t list = kineto::TopLevel::kNeedMore;
  while (list == kineto::TopLevel::kNeedMore) {
    read_more();
    list = top_.open(text_.view(), at_end_);
  }
  at_ = list;
}

// False when there is nothing more to read.
bool EventTexts::read_more() {
  if (at_end_) return false;
  const std::size_t want = std::max(kBlock, text_.size());
  const std::size_t got = in_.read(text_.room(want));
  text_.resize(text_.size() + got);
  at_end_ = got < want;
  return got > 0;
}

std::optional<std::string_view> EventTexts::next() {
  while (!is_closed_) {
    const char* const begin = text_.view().data();
    const char* const end = begin + text_.size();
    const char* p = begin + at_;
    do p = json::skip_space(p, end);
    while (*p == ',' && p++ < end);
    at_ = static_cast<std::size_t>(p - begin);
    if (p < end && *p == ']') {
      ++at_;
      finish();
      break;
    }
    const char* const after = p < end ? json::skip_value(p, end) : nullptr;
    const bool may_go_on = after == nullptr || after == end;
    if (may_go_on && !at_end_ && text_.size() - at_ < kLongestElement) {
      text_.erase_front(at_);
      at_ = 0;
      read_more();
      continue;
    }
    if (after == nullptr) {  // the end of the file, or of what can be read
      is_cut_ = true;
      finish();
      break;
    }
    at_ = static_cast<std::size_t>(after - begin);
    if (*p == '{') return std::string_view{p, static_cast<std::size_t>(after - p)};
    ++skipped_;
  }
  return std::nullopt;
}

void EventTexts::finish() {
  is_closed_ = true;
  while (!is_cut_ && text_.size() - at_ < kLongestElement && read_more()) {
  }
  text_.erase_front(at_);
  if (!is_cut_) top_.close(text_.view());
  text_.clear();
  head_ = std::move(builder_).finish();
}

const Value* EventTexts::head(std::string_view key) const {
  return head_ ? head_->metadata(key) : nullptr;
}

bool split_object(std::string_view object, std::vector<RawMember>& members) {
  members.clear();
  const char* p = object.data();
  const char* const end = p + object.size();
  if (object.empty() || *p != '{') return false;
  p = json::skip_space(p + 1, end);
  while (p < end && *p == '"') {
    const char* const quote = json::find_quote(p + 1, end);
    if (quote == nullptr) return false;
    const std::string_view key{p + 1, static_cast<std::size_t>(quote - p - 1)};
    p = json::skip_space(quote + 1, end);
    if (p >= end || *p != ':') return false;
    p = json::skip_space(p + 1, end);
    const char* const after = json::skip_value(p, end);
    if (after == nullptr) return false;
    members.push_back({key, {p, static_cast<std::size_t>(after - p)}});
    p = json::skip_space(after, end);
    if (p >= end || *p != ',') break;
    p = json::skip_space(p + 1, end);
  }
  return p < end && *p == '}';
}

}  // namespace tracelens
