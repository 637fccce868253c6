# The functions that are hooked have the parameters that cuda.h says, as far as a call can tell: their number, and what each takes.
header=$(ls /usr/local/cuda*/include/cuda.h /usr/include/cuda.h 2>/dev/null | head -1)
[ -n "$header" ] || skip "no cuda.h"
have g++ || skip "no g++"
cat >abi.cc <<'CC'
#define __CUDA_API_VERSION_INTERNAL
#include <cuda.h>
#include "agent/cuda_driver.h"
using namespace heapprof::agent;
template <typename... A> struct Sizes {};
template <typename T> constexpr unsigned long size_of = sizeof(T) <= 4 ? 4 : sizeof(T);
template <typename R, typename... A, typename S, typename... B>
constexpr bool agree(R (*)(A...), S (*)(B...)) {
  if constexpr (sizeof...(A) != sizeof...(B)) return false;
  else return ((size_of<A> == size_of<B>) && ...);
}
#define X(symbol, base, version, per_thread, params) \
  namespace ours { int symbol params; } \
  static_assert(agree(&::symbol, &ours::symbol), #symbol);
#include "agent/cuda_functions.def"
static_assert(sizeof(CudaCopy2d) == sizeof(CUDA_MEMCPY2D) && offsetof(CudaCopy2d, height) == offsetof(CUDA_MEMCPY2D, Height));
static_assert(sizeof(CudaCopy3d) == sizeof(CUDA_MEMCPY3D) && offsetof(CudaCopy3d, depth) == offsetof(CUDA_MEMCPY3D, Depth));
static_assert(sizeof(CudaArray3d) == sizeof(CUDA_ARRAY3D_DESCRIPTOR) && sizeof(CudaArray2d) == sizeof(CUDA_ARRAY_DESCRIPTOR));
int main() { return 0; }
CC
g++ -std=c++20 -fsyntax-only -I"$(dirname "$header")" -I"$SOURCE" abi.cc >abi.log 2>&1 || fail "$(grep -m5 -E 'error' abi.log)"
