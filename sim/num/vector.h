// Short vectors of the compiler's vector extension: one source that becomes AVX2 inside functions compiled
// for it and narrower instructions elsewhere. Internal to sim/num; everything here must be inlined (no vector
// crosses a call).
#pragma once

#include <cstdint>
#include <cstring>

#define SM89_NUM_INLINE inline __attribute__((always_inline))
#define SM89_NUM_LAMBDA __attribute__((always_inline))

namespace sm89::num {

#if defined(__x86_64__)
// Of the machine that runs this: whether functions compiled for AVX2 may be called.
inline bool HasAvx2() {
  static const bool has = __builtin_cpu_supports("avx2") != 0;
  return has;
}
#endif

using I32x8 = int32_t __attribute__((vector_size(32)));
using U32x8 = uint32_t __attribute__((vector_size(32)));
using F32x8 = float __attribute__((vector_size(32)));
using I32x4 = int32_t __attribute__((vector_size(16)));
using U32x4 = uint32_t __attribute__((vector_size(16)));
using F32x4 = float __attribute__((vector_size(16)));
using I64x4 = int64_t __attribute__((vector_size(32)));
using U64x4 = uint64_t __attribute__((vector_size(32)));
using F64x4 = double __attribute__((vector_size(32)));

template <typename V, typename T>
SM89_NUM_INLINE void LoadVector(const T* from, V* to) {
  std::memcpy(to, from, sizeof(V));
}

template <typename V, typename T>
SM89_NUM_INLINE void StoreVector(const V& from, T* to) {
  std::memcpy(to, &from, sizeof(V));
}

}  // namespace sm89::num
