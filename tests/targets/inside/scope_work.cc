// tests/targets/inside/scope_work.cc: a program with scopes: "load", in it "parse" so often as the first argument says,
// each of which keeps a block of so many bytes as the second one does.
#include "heapprof/heapprof.h"

#include <cstdlib>
#include <cstring>

namespace {

void* g_kept[64];

[[gnu::noinline]] void parse(int at, size_t size_bytes) {
  HEAPPROF_SCOPE_IN("json", "parse");
  g_kept[at] = std::malloc(size_bytes);
  std::memset(g_kept[at], 1, size_bytes);
}

}  // namespace

int main(int argc, char** argv) {
  if (argc < 3) return 2;
  HEAPPROF_SCOPE("load");
  for (int i = 0; i < std::atoi(argv[1]) && i < 64; ++i) parse(i, std::strtoul(argv[2], nullptr, 10));
  return g_kept[0] != nullptr ? 0 : 1;
}
