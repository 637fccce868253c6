// tests/targets/nvtx/nvtx_real.cc: a program with NVIDIA's own headers of NVTX, in C++, where they are installed;
// without them it ends with 77.
#if __has_include(<nvtx3/nvtx3.hpp>)

#include <nvtx3/nvtx3.hpp>

#include <cstdio>
#include <cstdlib>
#include <thread>

namespace {

void* leak(size_t size_bytes) {
  void* block = std::malloc(size_bytes);
  asm volatile("" : : "r"(block) : "memory");
  return block;
}

struct Training {
  static constexpr char const* name{"training"};
};
struct Loss {
  static constexpr char const* message{"loss"};
};

[[gnu::noinline]] void step(int number) {
  NVTX3_FUNC_RANGE_IN(Training);
  {
    const nvtx3::scoped_range forward{"forward"};
    leak(1000);
  }
  {
    const nvtx3::scoped_range_in<Training> loss{nvtx3::registered_string_in<Training>::get<Loss>(),
                                                nvtx3::payload{int64_t{32}}};
    leak(100);
  }
  if (number == 0) nvtx3::mark("first step");
}

}  // namespace

int main() {
  nvtxNameCategoryA(5, "input");
  nvtxEventAttributes_t attributes{};
  attributes.version = NVTX_VERSION;
  attributes.size = NVTX_EVENT_ATTRIB_STRUCT_SIZE;
  attributes.category = 5;
  attributes.messageType = NVTX_MESSAGE_TYPE_UNICODE;
  attributes.message.unicode = L"gr\u00f6\u00dfe";
  const int level = nvtxRangePushEx(&attributes);
  const int inner = nvtxRangePushA("inner");
  leak(7);
  const int inner_end = nvtxRangePop();
  const int end = nvtxRangePop();
  const nvtxRangeId_t request = nvtxRangeStartA("request");
  for (int i = 0; i < 10; ++i) step(i);
  nvtxRangePushA("threads");
  std::thread([request] { nvtxRangeEnd(request); }).join();
  nvtxRangePop();
  std::printf("%d %d %d %d\n", level, inner, inner_end, end);
  return nvtxRangePop() < 0 ? 0 : 1;
}

#else
int main() { return 77; }
#endif
