#include "readers/rocprof/record_list.hpp"

#include <utility>

#include "readers/kit/ordered_work.hpp"

namespace tracelens {
namespace {

constexpr std::size_t kBatchBytes = std::size_t{256} << 10;

}  // namespace

void RecordBatch::clear() {
  text.clear();
  elements.clear();
}

void RecordBatch::add(std::string_view value, std::uint64_t byte) {
  elements.push_back({.begin = text.size(), .size = value.size(), .byte = byte});
  text.append(value);
}

void RecordBatch::parse() {
  for (Element& element : elements)
    element.is_sound =
        parse_rocprof_record(text.view().substr(element.begin, element.size), element.record);
}

bool RecordList::next(RecordBatch& batch) {
  batch.clear();
  while (!is_over_ && batch.text.size() < kBatchBytes) {
    if (in_.peek() != ']') {
      const std::uint64_t byte = in_.byte();
      const auto value = in_.value();
      if (value) batch.add(*value, byte);
      if (value && in_.take(',')) continue;
    }
    is_over_ = true;
    is_whole_ = in_.take(']');
  }
  batch.fraction = source_.progress();
  return !batch.elements.empty();
}

bool RecordList::read(int threads, const std::function<void(const RecordBatch&)>& accept) {
  if (!in_.take('[')) return false;
  RecordBatch first;
  if (!next(first)) return is_whole_;
  if (is_over_) {  // short lists are many: no threads for them
    first.parse();
    accept(first);
    return is_whole_;
  }
  bool has_first = true;
  OrderedWork work{[&](RecordBatch& batch) {
                     if (!std::exchange(has_first, false)) return next(batch);
                     std::swap(batch, first);
                     return true;
                   },
                   [](RecordBatch& batch) { batch.parse(); },
                   [&](const RecordBatch& batch) { accept(batch); }};
  work.run(threads, [] { return RecordBatch{}; });
  return is_whole_;
}

}  // namespace tracelens
