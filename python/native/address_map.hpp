// address_map.hpp: what belongs to an address, for maps that are asked for every cell of a table.
//   AddressMap<PyObject*> made;
//   PyObject*& object = made[&value];   // null when it is new
// An address is never null. Open addressing in one array: std::unordered_map takes four times as long.
#pragma once

#include <cstddef>
#include <cstdint>
#include <utility>
#include <vector>

namespace tracelens::python {

template <class T>
class AddressMap {
 public:
  // Made empty when it is new. Valid until the next call.
  T& operator[](const void* address) {
    if (2 * (size_ + 1) > slots_.size()) grow();
    Slot& slot = find(address);
    if (slot.address == nullptr) {
      slot.address = address;
      ++size_;
    }
    return slot.held;
  }

 private:
  struct Slot {
    const void* address = nullptr;
    T held = {};
  };

  Slot& find(const void* address) {
    // Things lie at multiples of 8 or 16: the upper half of the product has all bits mixed.
    const auto number = static_cast<std::uint64_t>(reinterpret_cast<std::uintptr_t>(address));
    std::size_t at = (number * 0x9E3779B97F4A7C15u) >> 32;
    for (;; ++at) {
      Slot& slot = slots_[at & (slots_.size() - 1)];
      if (slot.address == address || slot.address == nullptr) return slot;
    }
  }
  void grow() {
    std::vector<Slot> before(slots_.empty() ? 64 : 2 * slots_.size());
    std::swap(before, slots_);
    for (Slot& slot : before)
      if (slot.address != nullptr) find(slot.address) = std::move(slot);
  }

  std::vector<Slot> slots_;  // a power of two
  std::size_t size_ = 0;
};

}  // namespace tracelens::python
