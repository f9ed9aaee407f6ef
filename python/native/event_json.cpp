#include "event_json.hpp"

#include <array>
#include <charconv>
#include <cmath>
#include <cstdint>
#include <cstring>
#include <optional>
#include <tracelens/json.hpp>
#include <vector>

#include "event_types.hpp"

namespace tracelens::python {
namespace {

bool is_space(char c) { return static_cast<unsigned char>(c) <= ' '; }

// A few hundred texts make up most keys and short values of a trace.
class TextCache {
 public:
  // A new reference to the text made by `make`, remembered by its bytes in the file.
  template <class Make>
  PyObject* get(std::string_view raw, Make&& make) {
    if (raw.size() > kLongest) return make();
    Entry& entry = entries_[hash(raw) % entries_.size()];
    if (entry.text == nullptr || entry.size != raw.size() ||
        std::memcmp(entry.raw.data(), raw.data(), raw.size()) != 0) {
      PyObject* const made = make();
      if (made == nullptr) return nullptr;
      Py_XDECREF(entry.text);
      entry.text = made;
      entry.size = static_cast<std::uint8_t>(raw.size());
      std::memcpy(entry.raw.data(), raw.data(), raw.size());
    }
    Py_INCREF(entry.text);
    return entry.text;
  }

 private:
  static constexpr std::size_t kLongest = 47;
  struct Entry {
    PyObject* text = nullptr;
    std::uint8_t size = 0;
    std::array<char, kLongest> raw{};
  };
  static std::size_t hash(std::string_view raw) {
    std::uint64_t word = raw.size();
    for (const char c : raw) word = (word ^ static_cast<unsigned char>(c)) * 0x9e3779b97f4a7c15U;
    return static_cast<std::size_t>(word >> 40);
  }
  std::array<Entry, 1024> entries_;
};

// They live as long as the interpreter: texts of many traces are the same.
TextCache& keys() {
  static auto* const cache = new TextCache;
  return *cache;
}
TextCache& texts() {
  static auto* const cache = new TextCache;
  return *cache;
}

bool is_plain(std::string_view raw) {
  for (const char c : raw)
    if (static_cast<unsigned char>(c) >= 0x80 || c == '\\' || c == '\0') return false;
  return true;
}

PyObject* make_text(std::string_view raw) {
  if (is_plain(raw)) {
    PyObject* const text = PyUnicode_New(static_cast<Py_ssize_t>(raw.size()), 127);
    if (text != nullptr && !raw.empty())
      std::memcpy(PyUnicode_1BYTE_DATA(text), raw.data(), raw.size());
    return text;
  }
  std::string quoted;
  quoted.reserve(raw.size() + 2);
  quoted.append("\"").append(raw).append("\"");
  const std::optional<Value> value = parse_json_value(quoted);
  const std::string_view text = value ? std::string_view{value->as_text()} : raw;
  return PyUnicode_DecodeUTF8(text.data(), static_cast<Py_ssize_t>(text.size()), "replace");
}

// One document. Containers are put together on a stack of their own: depth costs no C stack.
class Decoder {
 public:
  explicit Decoder(std::string_view text) : p_{text.data()}, end_{p_ + text.size()} {}
  // The members of an object into a dict that is there already.
  Decoder(std::string_view text, PyObject* dict) : Decoder{text} {
    skip_space();
    if (p_ == end_ || *p_ != '{') {
      p_ = end_;
      return;
    }
    ++p_;
    Py_INCREF(dict);
    open_.push_back({dict, nullptr});
  }
  ~Decoder() {
    for (const Open& open : open_) {
      Py_DECREF(open.container);
      Py_XDECREF(open.key);
    }
  }
  Decoder(const Decoder&) = delete;
  Decoder& operator=(const Decoder&) = delete;

  PyObject* run() {
    if (!read_key()) return failed();
    while (true) {
      skip_space();
      PyObject* value = nullptr;
      if (p_ == end_) return PyErr_Occurred() != nullptr ? nullptr : none();
      if (!open_.empty() && is_closer()) {
        value = close();
      } else if (!open_.empty() && *p_ == ',') {
        ++p_;
        continue;
      } else if (*p_ == '{' || *p_ == '[') {
        if (open_.size() >= static_cast<std::size_t>(kMaxJsonDepth)) return none();
        if (!begin_value()) return failed();
        PyObject* const made = *p_ == '{' ? PyDict_New() : PyList_New(0);
        if (made == nullptr) return nullptr;
        open_.push_back({made, nullptr});
        ++p_;
        if (!read_key()) return failed();
        continue;
      } else {
        if (!begin_value()) return failed();
        value = scalar();
      }
      if (value == nullptr) return failed();
      if (open_.empty()) return value;
      if (!add(value)) return nullptr;
      if (!read_key()) return failed();
    }
  }

 private:
  struct Open {
    PyObject* container;
    PyObject* key;  // of the member that comes next
  };

  static PyObject* none() { Py_RETURN_NONE; }
  // The text is no JSON, or Python failed.
  static PyObject* failed() { return PyErr_Occurred() != nullptr ? nullptr : none(); }

  void skip_space() {
    while (p_ < end_ && is_space(*p_)) ++p_;
  }
  [[nodiscard]] bool is_dict() const { return PyDict_Check(open_.back().container); }
  [[nodiscard]] bool is_closer() const { return *p_ == (is_dict() ? '}' : ']'); }
  // Members of an object must have a key.
  [[nodiscard]] bool begin_value() const {
    return open_.empty() || !is_dict() || open_.back().key != nullptr;
  }

  // Where an object goes on, the key of the next member.
  bool read_key() {
    if (open_.empty() || !is_dict() || open_.back().key != nullptr) return true;
    while (p_ < end_ && (is_space(*p_) || *p_ == ',')) ++p_;
    if (p_ == end_) return false;
    if (*p_ == '}') return true;
    std::string_view raw;
    if (*p_ != '"' || !string(raw)) return false;
    skip_space();
    if (p_ == end_ || *p_ != ':') return false;
    ++p_;
    open_.back().key = decode_json_key(raw);
    return open_.back().key != nullptr;
  }

  bool add(PyObject* value) {
    Open& top = open_.back();
    int result = 0;
    if (top.key == nullptr) {
      result = PyList_Append(top.container, value);
    } else {
      result = PyDict_SetItem(top.container, top.key, value);
      Py_CLEAR(top.key);
    }
    Py_DECREF(value);
    return result == 0;
  }

  PyObject* close() {
    PyObject* const done = open_.back().container;
    Py_CLEAR(open_.back().key);
    open_.pop_back();
    ++p_;
    return done;
  }

  // Stands at a quote; goes behind the closing one.
  bool string(std::string_view& raw) {
    const char* const begin = ++p_;
    while (true) {
      const auto* const quote =
          static_cast<const char*>(std::memchr(p_, '"', static_cast<std::size_t>(end_ - p_)));
      if (quote == nullptr) return false;
      std::size_t backslashes = 0;
      for (const char* q = quote; q > begin && q[-1] == '\\'; --q) ++backslashes;
      p_ = quote + 1;
      if (backslashes % 2 == 1) continue;
      raw = {begin, static_cast<std::size_t>(quote - begin)};
      return true;
    }
  }

  PyObject* scalar() {
    if (*p_ == '"') {
      std::string_view raw;
      return string(raw) ? decode_json_text(raw) : nullptr;
    }
    const char* const begin = p_;
    while (p_ < end_ && !is_space(*p_) && *p_ != ',' && *p_ != ']' && *p_ != '}') ++p_;
    const std::string_view word{begin, static_cast<std::size_t>(p_ - begin)};
    if (word.empty()) return nullptr;
    if (PyObject* const number = this->number(word); number != nullptr) return number;
    if (PyErr_Occurred() != nullptr) return nullptr;
    if (word == "true") Py_RETURN_TRUE;
    if (word == "false") Py_RETURN_FALSE;
    Py_RETURN_NONE;
  }

  static PyObject* number(std::string_view word) {
    const char* const end = word.data() + word.size();
    std::int64_t whole = 0;
    if (const auto read = std::from_chars(word.data(), end, whole); read.ptr == end) {
      if (read.ec == std::errc{}) return PyLong_FromLongLong(whole);
      return PyLong_FromString(std::string{word}.c_str(), nullptr, 10);
    }
    double real = 0;
    if (const auto read = std::from_chars(word.data(), end, real); read.ptr == end) {
      // Out of range is infinite or nothing, as Python has it; not by strtod(), which asks the locale.
      if (read.ec != std::errc{})
        real = PyOS_string_to_double(std::string{word}.c_str(), nullptr, nullptr);
      return PyErr_Occurred() == nullptr ? PyFloat_FromDouble(real) : nullptr;
    }
    return nullptr;
  }

  const char* p_;
  const char* end_;
  std::vector<Open> open_;
};

class Encoder {
 public:
  explicit Encoder(std::string& out) : out_{out} {}

  // NOLINTNEXTLINE(misc-no-recursion): as deep as kMaxJsonDepth at most
  bool put(PyObject* value, int depth) {
    if (PyUnicode_Check(value)) return put_text(value);
    if (value == Py_None) return put("null");
    if (value == Py_True) return put("true");
    if (value == Py_False) return put("false");
    if (PyFloat_Check(value)) return put_real(PyFloat_AS_DOUBLE(value));
    if (PyLong_Check(value)) return put_integer(value);
    if (depth >= kMaxJsonDepth) return put("null");
    if (PyDict_Check(value)) return put_dict(value, depth);
    if (PyList_Check(value) || PyTuple_Check(value)) return put_list(value, depth);
    if (PyIndex_Check(value)) {
      PyObject* const number = PyNumber_Index(value);
      if (number == nullptr) return put_nothing();
      const bool done = put_integer(number);
      Py_DECREF(number);
      return done;
    }
    if (Py_TYPE(value)->tp_as_number != nullptr &&
        Py_TYPE(value)->tp_as_number->nb_float != nullptr) {
      const double real = PyFloat_AsDouble(value);
      if (real == -1.0 && PyErr_Occurred() != nullptr) return put_nothing();
      return put_real(real);
    }
    return put("null");
  }

 private:
  bool put(const char* text) {
    out_ += text;
    return true;
  }
  // A number that fails to be one is none.
  bool put_nothing() {
    PyErr_Clear();
    return put("null");
  }
  bool put_real(double real) {
    if (!std::isfinite(real)) return put("null");
    std::array<char, 400> digits;
    const auto end =
        std::to_chars(digits.data(), digits.data() + digits.size(), real, std::chars_format::fixed);
    out_.append(digits.data(), end.ptr);
    // 3.0 is no integer, and must not be read as one.
    if (std::memchr(digits.data(), '.', static_cast<std::size_t>(end.ptr - digits.data())) ==
        nullptr)
      out_ += ".0";
    return true;
  }
  bool put_integer(PyObject* value) {
    int overflow = 0;
    const long long small = PyLong_AsLongLongAndOverflow(value, &overflow);
    if (overflow == 0) {
      if (small == -1 && PyErr_Occurred() != nullptr) return false;
      std::array<char, 24> digits;
      const auto end = std::to_chars(digits.data(), digits.data() + digits.size(), small);
      out_.append(digits.data(), end.ptr);
      return true;
    }
    // Its digits, whatever a class made of int prints.
    PyObject* const text = PyLong_Type.tp_repr(value);
    if (text == nullptr) return put_nothing();  // more digits than Python prints
    const char* const digits = PyUnicode_AsUTF8(text);
    if (digits != nullptr) out_ += digits;
    Py_DECREF(text);
    return digits != nullptr;
  }
  bool put_text(PyObject* text) {
    Py_ssize_t size = 0;
    if (const char* const bytes = PyUnicode_AsUTF8AndSize(text, &size)) {
      append_json_text(out_, {bytes, static_cast<std::size_t>(size)});
      return true;
    }
    PyErr_Clear();  // half of a pair of surrogates
    PyObject* const bytes = PyUnicode_AsEncodedString(text, "utf-8", "replace");
    if (bytes == nullptr) return false;
    append_json_text(out_,
                     {PyBytes_AS_STRING(bytes), static_cast<std::size_t>(PyBytes_GET_SIZE(bytes))});
    Py_DECREF(bytes);
    return true;
  }
  // NOLINTNEXTLINE(misc-no-recursion)
  bool put_list(PyObject* list, int depth) {
    bool done = true;
    out_ += '[';
    for (Py_ssize_t i = 0; done && i < PySequence_Fast_GET_SIZE(list); ++i) {
      if (i > 0) out_ += ',';
      // A number's own code may empty the list.
      PyObject* const item = PySequence_Fast_GET_ITEM(list, i);
      Py_INCREF(item);
      done = put(item, depth + 1);
      Py_DECREF(item);
    }
    out_ += ']';
    return done;
  }
  // NOLINTNEXTLINE(misc-no-recursion)
  bool put_dict(PyObject* dict, int depth) {
    // What the dict itself holds, whatever a class made of it has for items().
    PyObject* const items = fill(dict) ? PyDict_Items(dict) : nullptr;
    if (items == nullptr) return false;
    bool done = true;
    out_ += '{';
    for (Py_ssize_t i = 0; done && i < PyList_GET_SIZE(items); ++i) {
      PyObject* const item = PyList_GET_ITEM(items, i);
      PyObject* const key = PyTuple_GET_ITEM(item, 0);
      if (i > 0) out_ += ',';
      if (PyUnicode_Check(key)) {
        done = put_text(key);
      } else {
        PyObject* const text = PyObject_Str(key);
        done = text != nullptr && put_text(text);
        Py_XDECREF(text);
      }
      out_ += ':';
      done = done && put(PyTuple_GET_ITEM(item, 1), depth + 1);
    }
    out_ += '}';
    Py_DECREF(items);
    return done;
  }

  std::string& out_;
};

}  // namespace

PyObject* decode_json(std::string_view text) { return Decoder{text}.run(); }

bool decode_json_members(std::string_view object, PyObject* dict) {
  PyObject* const done = Decoder{object, dict}.run();
  Py_XDECREF(done);
  return done != nullptr;
}

PyObject* decode_json_text(std::string_view raw) {
  return texts().get(raw, [raw] { return make_text(raw); });
}

PyObject* decode_json_key(std::string_view raw) {
  return keys().get(raw, [raw] {
    PyObject* text = make_text(raw);
    if (text != nullptr) PyUnicode_InternInPlace(&text);
    return text;
  });
}

bool encode_json(std::string& out, PyObject* value) {
  Py_INCREF(value);
  const bool done = Encoder{out}.put(value, 0);
  Py_DECREF(value);
  return done;
}

}  // namespace tracelens::python
