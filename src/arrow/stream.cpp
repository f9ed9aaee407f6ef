#include "arrow/stream.hpp"

#include <algorithm>
#include <cerrno>
#include <exception>
#include <new>
#include <string_view>

#include "table/utf8.hpp"

namespace tracelens::arrow {
namespace {

// What a struct has below it. A consumer may move a part out and mark it as released; what is left goes
// with the struct.
template <class Struct>
struct Below {
  std::vector<Struct> children;
  std::vector<Struct*> child_pointers;
  Struct dictionary = {};

  explicit Below(std::size_t count) : children(count) {
    for (Struct& child : children) child_pointers.push_back(&child);
  }
  Below(const Below&) = delete;
  Below& operator=(const Below&) = delete;
  ~Below() {
    for (Struct& child : children) release(child);
    release(dictionary);
  }

 private:
  static void release(Struct& part) {
    if (part.release != nullptr) part.release(&part);
  }
};

// --- schemas ---
struct SchemaData {
  explicit SchemaData(std::size_t children = 0) : below{children} {}
  std::string format, name, metadata;
  Below<ArrowSchema> below;
};

void release_schema(ArrowSchema* schema) {
  delete static_cast<SchemaData*>(schema->private_data);
  schema->release = nullptr;
}

// The count and, with the length before each, keys and values.
std::string encoded(const std::vector<std::pair<std::string, std::string>>& metadata) {
  std::string bytes;
  const auto add_number = [&](std::size_t number) {
    const auto value = static_cast<std::int32_t>(number);
    bytes.append(reinterpret_cast<const char*>(&value), sizeof value);
  };
  if (metadata.empty()) return bytes;
  add_number(metadata.size());
  for (const auto& [key, value] : metadata)
    for (const std::string& text : {key, value}) {
      add_number(text.size());
      bytes += text;
    }
  return bytes;
}

void fill(ArrowSchema& schema, std::unique_ptr<SchemaData> data, bool nullable) {
  Below<ArrowSchema>& below = data->below;
  schema = {.format = data->format.c_str(),
            .name = data->name.c_str(),
            .metadata = data->metadata.empty() ? nullptr : data->metadata.data(),
            .flags = nullable ? ARROW_FLAG_NULLABLE : 0,
            .n_children = static_cast<std::int64_t>(below.children.size()),
            .children = below.children.empty() ? nullptr : below.child_pointers.data(),
            .dictionary = below.dictionary.release == nullptr ? nullptr : &below.dictionary,
            .release = &release_schema,
            .private_data = data.get()};
  static_cast<void>(data.release());
}

void fill_field(ArrowSchema& schema, const Field& field) {
  auto data = std::make_unique<SchemaData>();
  data->format = field.format;
  data->name = field.name;
  data->metadata = encoded(field.metadata);
  if (field.dictionary != nullptr) {
    auto values = std::make_unique<SchemaData>();
    values->format = field.dictionary->format;
    fill(data->below.dictionary, std::move(values), false);
  }
  fill(schema, std::move(data), true);
}

// --- arrays ---
struct ArrayData {
  explicit ArrayData(std::size_t children = 0) : below{children} {}
  Part part;
  Below<ArrowArray> below;
};

void release_array(ArrowArray* array) {
  delete static_cast<ArrayData*>(array->private_data);
  array->release = nullptr;
}

void fill(ArrowArray& array, std::unique_ptr<ArrayData> data, std::size_t length) {
  Below<ArrowArray>& below = data->below;
  array = {.length = static_cast<std::int64_t>(length),
           .null_count = data->part.nulls,
           .offset = 0,
           .n_buffers = static_cast<std::int64_t>(data->part.buffers.size()),
           .n_children = static_cast<std::int64_t>(below.children.size()),
           .buffers = data->part.buffers.data(),
           .children = below.children.empty() ? nullptr : below.child_pointers.data(),
           .dictionary = below.dictionary.release == nullptr ? nullptr : &below.dictionary,
           .release = &release_array,
           .private_data = data.get()};
  static_cast<void>(data.release());
}

void fill_column(ArrowArray& array, const Field& field, std::size_t from, std::size_t count) {
  auto data = std::make_unique<ArrayData>();
  data->part = field.part(from, count);
  if (field.dictionary != nullptr) {
    auto values = std::make_unique<ArrayData>();
    values->part = field.dictionary->texts;
    fill(data->below.dictionary, std::move(values),
         static_cast<std::size_t>(field.dictionary->size));
  }
  fill(array, std::move(data), count);
}

// --- the stream ---
struct StreamData {
  std::vector<Field> fields;
  std::size_t rows = 0, per_batch = 1, next = 0;
  std::string error = {};
};

StreamData& data_of(ArrowArrayStream* stream) {
  return *static_cast<StreamData*>(stream->private_data);
}

// No exception may leave a function that C calls.
template <class Function>
int told(StreamData& data, const Function& function) {
  try {
    function();
    return 0;
  } catch (const std::bad_alloc&) {
    return ENOMEM;
  } catch (const std::exception& error) {
    data.error = error.what();
    return EIO;
  }
}

int get_schema(ArrowArrayStream* stream, ArrowSchema* out) {
  StreamData& data = data_of(stream);
  return told(data, [&] {
    auto all = std::make_unique<SchemaData>(data.fields.size());
    all->format = "+s";
    for (std::size_t i = 0; i < data.fields.size(); ++i)
      fill_field(all->below.children[i], data.fields[i]);
    fill(*out, std::move(all), false);
  });
}

int get_next(ArrowArrayStream* stream, ArrowArray* out) {
  StreamData& data = data_of(stream);
  *out = {};  // a released array: the end
  if (data.next >= data.rows) return 0;
  return told(data, [&] {
    const std::size_t count = std::min(data.per_batch, data.rows - data.next);
    auto all = std::make_unique<ArrayData>(data.fields.size());
    all->part.buffers.push_back(nullptr);
    for (std::size_t i = 0; i < data.fields.size(); ++i)
      fill_column(all->below.children[i], data.fields[i], data.next, count);
    fill(*out, std::move(all), count);
    data.next += count;
  });
}

const char* get_last_error(ArrowArrayStream* stream) {
  const std::string& error = data_of(stream).error;
  return error.empty() ? nullptr : error.c_str();
}

void release_stream(ArrowArrayStream* stream) {
  delete static_cast<StreamData*>(stream->private_data);
  stream->release = nullptr;
}

template <class Offset>
void add_texts_as(Part& part, std::size_t count,
                  const std::function<std::string_view(std::size_t)>& text) {
  std::vector<Offset> offsets(count + 1);
  std::vector<char> characters;
  for (std::size_t i = 0; i < count; ++i) {
    const std::string_view each = text(i);
    characters.insert(characters.end(), each.begin(), each.end());
    offsets[i + 1] = static_cast<Offset>(characters.size());
  }
  if (characters.empty()) characters.push_back('\0');  // a buffer must not be null
  add_owned(part, std::move(offsets));
  add_owned(part, std::move(characters));
}

}  // namespace

void make_stream(std::vector<Field> fields, std::size_t rows, std::size_t rows_per_batch,
                 ArrowArrayStream* out) {
  auto data = std::make_unique<StreamData>();
  data->fields = std::move(fields);
  data->rows = rows;
  data->per_batch = rows_per_batch;
  *out = {.get_schema = &get_schema,
          .get_next = &get_next,
          .get_last_error = &get_last_error,
          .release = &release_stream,
          .private_data = data.release()};
}

void add_validity(Part& part, std::size_t count, const std::function<bool(std::size_t)>& is_there) {
  std::vector<std::uint8_t> bits((count + 7) / 8);
  part.nulls = 0;
  for (std::size_t i = 0; i < count; ++i)
    if (is_there(i))
      bits[i / 8] = static_cast<std::uint8_t>(bits[i / 8] | (1U << (i % 8)));
    else
      ++part.nulls;
  if (part.nulls == 0)
    part.buffers.push_back(nullptr);
  else
    add_owned(part, std::move(bits));
}

std::string valid_utf8(std::string_view text) { return std::string{ValidUtf8{text}.view()}; }

void add_texts(Part& part, std::size_t count, bool wide,
               const std::function<std::string_view(std::size_t)>& text) {
  if (wide)
    add_texts_as<std::int64_t>(part, count, text);
  else
    add_texts_as<std::int32_t>(part, count, text);
}

}  // namespace tracelens::arrow
