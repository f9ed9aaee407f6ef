#include "readers/chrome/event_texts.hpp"

#include <algorithm>
#include <utility>

#include "readers/chrome/holes.hpp"
#include "readers/chrome/json_scan.hpp"

namespace tracelens {
namespace {

constexpr std::size_t kBlock = std::size_t{1} << 20;
// Text behind the event list is kept whole, up to this.
constexpr std::size_t kLongestTail = std::size_t{64} << 20;

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
  read_bytes_ += got;
  at_end_ = got < want;
  return got > 0;
}

void EventTexts::count_controls(const char* from, const char* to) {
  if (!json::has_stray_controls(from, to)) return;
  const auto before = static_cast<std::size_t>(from - text_.view().data());
  controls_.count({from, static_cast<std::size_t>(to - from)}, first_byte() + before,
                  StrayControls::kNoWhiteSpace);
}

// Goes on to the next event behind NUL bytes; false when more text must be read, or there is none.
bool EventTexts::leave_hole() {
  const auto [at, found] = find_event_after_hole(text_.view(), at_);
  count_controls(text_.view().data() + at_, text_.view().data() + at);
  at_ = at;
  in_hole_ = !found;
  if (found) return true;
  if (!at_end_) {
    text_.erase_front(text_.size() - at_ > kLongEvent ? text_.size() : at_);
    at_ = 0;
    read_more();
    return false;
  }
  const std::size_t end = find_list_end_after_hole(text_.view().substr(at_));
  is_cut_ = end == std::string_view::npos;
  if (!is_cut_) at_ += end;
  finish(!is_cut_);
  return false;
}

std::optional<std::string_view> EventTexts::next() {
  while (!is_closed_) {
    if (in_hole_ && !leave_hole()) continue;
    const char* const begin = text_.view().data();
    const char* const end = begin + text_.size();
    const char* p = begin + at_;
    do p = json::skip_space(p, end);
    while (*p == ',' && p++ < end);
    in_hole_ = find_nul(begin + at_, p) != nullptr;
    if (in_hole_) continue;
    count_controls(begin + at_, p);
    at_ = static_cast<std::size_t>(p - begin);
    if (p < end && *p == ']') {
      ++at_;
      finish(true);
      break;
    }
    const char* const after = p < end ? json::skip_value(p, end) : nullptr;
    if (p < end && (*p == '{' || *p == '[' || *p == '"'))
      if (const char* const nul = find_nul(p, after == nullptr ? end : after); nul != nullptr) {
        ++skipped_;
        count_controls(p, nul);
        at_ = static_cast<std::size_t>(nul - begin);
        in_hole_ = true;
        continue;
      }
    const bool may_go_on = after == nullptr || after == end;
    const std::string_view rest = text_.view().substr(at_);
    if (may_go_on && !at_end_ && (rest.size() <= patience_ || may_still_end(rest, patience_))) {
      text_.erase_front(at_);
      at_ = 0;
      read_more();
      continue;
    }
    if (after == nullptr) {
      is_cut_ = at_end_;
      if (!at_end_) builder_.warnings().add(kEndlessEvent, first_byte() + at_);
      finish(false);
      break;
    }
    at_ = static_cast<std::size_t>(after - begin);
    patience_ = kLongEvent;
    count_controls(p, after);
    const std::string_view element{p, static_cast<std::size_t>(after - p)};
    if (*p == '{') return element;
    ++skipped_;
  }
  return std::nullopt;
}

void EventTexts::finish(bool has_tail) {
  is_closed_ = true;
  while (has_tail && text_.size() - at_ < kLongestTail && read_more()) {
  }
  text_.erase_front(at_);
  builder_.source().text_bytes = read_bytes_;
  controls_.add_to(builder_.warnings());
  if (has_tail) top_.close(text_.view());
  text_.clear();
  head_ = std::move(builder_).finish();
}

const Value* EventTexts::head(std::string_view key) const {
  return head_ ? head_->metadata(key) : nullptr;
}

std::span<const Warnings::Entry> EventTexts::warnings() const {
  return head_ ? head_->warnings().entries() : std::span<const Warnings::Entry>{};
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
