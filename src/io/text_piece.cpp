#include "io/text_piece.hpp"

#include <algorithm>
#include <utility>

#include "io/check.hpp"
#include "io/crc.hpp"
#include "io/inflater.hpp"

namespace tracelens::io {

TextPiece::TextPiece(std::shared_ptr<const Origin> origin, inflating::TokenPart part,
                     Follows follows)
    : origin_{std::move(origin)}, part_{std::move(part)}, follows_{follows} {}

std::string_view TextPiece::end() const {
  if (follows_ == Follows::kPiece) return {};
  const inflating::Window& after = origin_->after;
  const std::size_t own = std::min(size(), after.size());
  return std::string_view{after.data(), after.size()}.substr(after.size() - own);
}

inflating::Window TextPiece::before() const {
  inflating::Window before;
  part_.window_before.apply(origin_->before, before);
  return before;
}

void TextPiece::write(std::span<char> into, const inflating::Window& before) {
  copy_text(into, before);
  if (!is_summed_.exchange(true)) set_crc(into);
}

std::uint32_t TextPiece::crc() {
  if (!is_summed_) {
    const auto text =
        std::make_unique_for_overwrite<char[]>(size());  // before anybody relies on it
    if (!is_summed_.exchange(true)) {
      copy_text({text.get(), size()}, before());
      set_crc({text.get(), size()});
    }
  }
  has_crc_.wait(false);
  return crc_;
}

void TextPiece::copy_text(std::span<char> into, const inflating::Window& before) const {
  TL_CHECK(into.size() == size());
  Inflater inflater;
  inflater.keep(before);
  inflating::TokenPlace place = part_.place;
  TL_CHECK(inflater.copy(place, into, 0) == size());
}

void TextPiece::set_crc(std::span<const char> text) {
  crc_ = crc_with(0, text);
  has_crc_ = true;
  has_crc_.notify_all();
}

}  // namespace tracelens::io
