# The functions that are hooked have the parameters that cuda.h says, as far as a call can tell: their number, and what
# each takes.
header=$(ls /usr/local/cuda*/include/cuda.h /usr/include/cuda.h 2>/dev/null | head -1)
[ -n "$header" ] || skip "no cuda.h"
have g++ || skip "no g++"
cat >abi.cc <<'CC'
#define __CUDA_API_VERSION_INTERNAL
#include <cuda.h>
#include "agent/cuda/driver.h"
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
#include "agent/cuda/functions.def"
static_assert(sizeof(CudaCopy2d) == sizeof(CUDA_MEMCPY2D) && offsetof(CudaCopy2d, height) == offsetof(CUDA_MEMCPY2D, Height));
static_assert(sizeof(CudaCopy3d) == sizeof(CUDA_MEMCPY3D) && offsetof(CudaCopy3d, depth) == offsetof(CUDA_MEMCPY3D, Depth));
static_assert(sizeof(CudaBatchCopy3d) == sizeof(CUDA_MEMCPY3D_BATCH_OP) && offsetof(CudaBatchCopy3d, to) == offsetof(CUDA_MEMCPY3D_BATCH_OP, dst) &&
  offsetof(CudaBatchCopy3d, width) == offsetof(CUDA_MEMCPY3D_BATCH_OP, extent) && kCudaPointer == CU_MEMCPY_OPERAND_TYPE_POINTER);
static_assert(sizeof(CudaArray3d) == sizeof(CUDA_ARRAY3D_DESCRIPTOR) && sizeof(CudaArray2d) == sizeof(CUDA_ARRAY_DESCRIPTOR));
static_assert(sizeof(CudaAllocationNode) == sizeof(CUDA_MEM_ALLOC_NODE_PARAMS) && offsetof(CudaAllocationNode, size_bytes) == offsetof(CUDA_MEM_ALLOC_NODE_PARAMS, bytesize) &&
  offsetof(CudaAllocationNode, address) == offsetof(CUDA_MEM_ALLOC_NODE_PARAMS, dptr));
static_assert(offsetof(CudaNode, allocation) == offsetof(CUgraphNodeParams, alloc) && kCudaAllocationNode == CU_GRAPH_NODE_TYPE_MEM_ALLOC);
static_assert(CU_MEMPOOL_ATTR_RESERVED_MEM_CURRENT == 5 && CU_MEMPOOL_ATTR_RESERVED_MEM_HIGH == 6 && CU_MEMPOOL_ATTR_USED_MEM_CURRENT == 7 &&
  CU_POINTER_ATTRIBUTE_MEMPOOL_HANDLE == 17 && CU_GRAPH_MEM_ATTR_USED_MEM_CURRENT == 0 && CU_GRAPH_MEM_ATTR_USED_MEM_HIGH == 1 &&
  CU_GRAPH_MEM_ATTR_RESERVED_MEM_CURRENT == 2 && CU_GRAPH_MEM_ATTR_RESERVED_MEM_HIGH == 3 && CU_STREAM_CAPTURE_MODE_RELAXED == 2);
int main() { return 0; }
CC
# No newer ABI of a hooked function is taken for an older one.
have python3 && python3 - "$(dirname "$header")/cudaTypedefs.h" "$SOURCE" <<'PY' || fail "an ABI that is not hooked"
import re, subprocess, sys
typedefs = open(sys.argv[1]).read()
source = '#include "agent/cuda/calls.h"\n#define X(symbol, base, version, per_thread, params) @symbol base version @per_thread\n#include "agent/cuda/functions.def"\n'
text = subprocess.run(["g++", "-E", "-P", "-x", "c++", "-", "-I" + sys.argv[2]], input=source.replace("@symbol", '"symbol"').replace("@per", '"" per'), capture_output=True, text=True, check=True).stdout
hooked = {}
for base, version, condition, per_thread in re.findall(r'"symbol" (cu\w+) (?:\((\d+)\) > 7000 \? \(\d+\) : 7000|(\d+)) "" ([01])', " ".join(text.split())):
    number = int(condition) if condition else max(int(version), 7000)
    hooked.setdefault((base, per_thread == "1"), set()).add(number)
bad = 0
for (base, per_thread), versions in hooked.items():
    known = {int(v) for b, v, s in re.findall(r"PFN_(cu\w+?)_v(\d+)(_ptsz|_ptds)?\)", typedefs) if b == base and bool(s) == per_thread}
    if known and max(known) > max(versions):
        print(f"{base}: hooked are {sorted(versions)}, there are {sorted(known)}")
        bad += 1
assert len(hooked) > 80, len(hooked)
sys.exit(bad != 0)
PY
g++ -std=c++20 -fsyntax-only -I"$(dirname "$header")" -I"$SOURCE" abi.cc >abi.log 2>&1 || fail "$(grep -m5 -E 'error' abi.log)"
