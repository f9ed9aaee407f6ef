// stream.hpp: columns as a stream of Arrow's C interface. Who exports says what each column is and
// where its bytes lie; the structs, their lifetimes and their releases are made here.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <tracelens/arrow.hpp>
#include <utility>
#include <vector>

namespace tracelens::arrow {

// One array: the buffers that Arrow lays down for its format, the first one the bits of what is there
// (null: everything is). `keeps` holds whatever they lie in.
struct Part {
  std::vector<const void*> buffers = {};
  std::int64_t nulls = 0;
  std::vector<std::shared_ptr<const void>> keeps = {};
};

// The values that the numbers of a column stand for: texts.
struct Dictionary {
  std::string format = {};  // "u", or "U" when it is very long
  std::int64_t size = 0;
  Part texts = {};
};

struct Field {
  std::string name = {};
  std::string format = {};  // as in the specification: "l" int64, "g" float64, "b" bool, ...
  std::vector<std::pair<std::string, std::string>> metadata = {};
  std::shared_ptr<const Dictionary> dictionary = nullptr;  // none: values as they are
  std::function<Part(std::size_t from, std::size_t count)> part = nullptr;  // of these rows
};

// Fills `out`.
void make_stream(std::vector<Field> fields, std::size_t rows, std::size_t rows_per_batch,
                 ArrowArrayStream* out);

// --- for making parts ---
// Bits of which rows are there, counted; no buffer when all are.
void add_validity(Part& part, std::size_t count, const std::function<bool(std::size_t)>& is_there);
// Offsets and characters of texts. `wide`: offsets of 64 bits.
void add_texts(Part& part, std::size_t count, bool wide,
               const std::function<std::string_view(std::size_t)>& text);
// Arrow's texts are UTF-8; bytes that are not become U+FFFD.
[[nodiscard]] std::string valid_utf8(std::string_view text);
// A buffer that the part owns from now on.
template <class T>
void add_owned(Part& part, std::vector<T> values) {
  auto held = std::make_shared<const std::vector<T>>(std::move(values));
  part.buffers.push_back(held->data());
  part.keeps.push_back(std::move(held));
}

}  // namespace tracelens::arrow
