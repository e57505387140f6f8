// Fixed array that starts at a cache line of the host, all zero bits.
#pragma once

#include <cstddef>
#include <cstring>
#include <memory>
#include <new>
#include <type_traits>

namespace sm89 {

template <class T>
class AlignedArray {
  static_assert(std::is_trivially_copyable_v<T>);

 public:
  explicit AlignedArray(size_t size)
      : items_(static_cast<T*>(::operator new[](size * sizeof(T), std::align_val_t{kHostLine}))) {
    std::memset(static_cast<void*>(items_.get()), 0, size * sizeof(T));
  }

  T& operator[](size_t i) { return items_.get()[i]; }
  const T& operator[](size_t i) const { return items_.get()[i]; }

 private:
  static constexpr size_t kHostLine = 64;
  struct Free {
    void operator()(T* items) const { ::operator delete[](items, std::align_val_t{kHostLine}); }
  };

  std::unique_ptr<T, Free> items_;
};

}  // namespace sm89
