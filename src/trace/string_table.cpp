#include "trace/string_table.hpp"

#include <algorithm>
#include <cstring>
#include <utility>

namespace tracelens {
namespace {

constexpr std::size_t kBlockBytes = std::size_t{64} << 10;

}  // namespace

std::string_view TextArena::copy(std::string_view text) {
  if (text.empty()) return {};
  if (text.size() > left_) {
    const std::size_t bytes = std::max(kBlockBytes, text.size());
    blocks_.push_back(std::make_unique_for_overwrite<char[]>(bytes));
    next_ = blocks_.back().get();
    left_ = bytes;
  }
  char* const place = next_;
  std::memcpy(place, text.data(), text.size());
  next_ += text.size();
  left_ -= text.size();
  return {place, text.size()};
}

StringTable::StringTable(Texts texts)
    : texts_{std::move(texts.views)}, arena_{std::move(texts.blocks)} {
  for (std::uint32_t id = 0; id < texts_.size(); ++id)
    index_.find_or_add(
        hash_text(texts_[id]), [&](std::uint32_t other) { return texts_[other] == texts_[id]; },
        [&] { return id; });
}

void IdIndex::grow() {
  std::vector<Slot> old(std::max<std::size_t>(slots_.size() * 2, 64));
  old.swap(slots_);
  mask_ = slots_.size() - 1;
  for (const Slot& slot : old) {
    if (slot.id == kFree) continue;
    // tag and low are the two halves of the hash, so a slot can be placed without its text.
    std::size_t at = ((std::uint64_t{slot.tag} << 32) | slot.low) & mask_;
    while (slots_[at].id != kFree) at = (at + 1) & mask_;
    slots_[at] = slot;
  }
}

}  // namespace tracelens
