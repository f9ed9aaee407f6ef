// once.hpp: a value that is made once, by the first who asks; several threads may ask.
//   Once<Tree> tree;
//   tree.get([&] { return build_tree(trace); })
#pragma once

#include <memory>
#include <mutex>

#include "io/check.hpp"

namespace tracelens {

template <class T>
class Once {
 public:
  template <class Make>
  T& get(const Make& make) {
    // In place: some of what is made once cannot be moved.
    std::call_once(flag_, [&] { value_.reset(new T(make())); });
    TL_CHECK(value_ != nullptr);  // dropped: the one who asks came too late
    return *value_;
  }
  [[nodiscard]] const T* made() const { return value_.get(); }  // null: nobody has asked
  void drop() { value_.reset(); }                               // nobody will ask again

 private:
  std::once_flag flag_;
  std::unique_ptr<T> value_;
};

}  // namespace tracelens
