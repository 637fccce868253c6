// tests/targets/names/jit.cc: allocates from code that it makes itself, with a frame pointer and no other description,
// and names that code as JIT compilers do: in /tmp/perf-PID.map. usage: jit [allocations [nameless]], 100 of 1235 bytes
// by default; prints the map's path, and writes none for the second word
#include "../keep.h"

#include <sys/mman.h>
#include <unistd.h>

#include <cstdint>
#include <cstdio>
#include <cstring>

namespace {

KEEP_FRAME void allocate() { keep(malloc(1235)); }

using Function = void (*)();

// push rbp; mov rbp, rsp; mov rax, callee; call rax; pop rbp; ret
Function make_caller(unsigned char* at, Function callee) {
  const unsigned char code[] = {0x55, 0x48, 0x89, 0xe5, 0x48, 0xb8, 0, 0, 0, 0, 0, 0, 0, 0, 0xff, 0xd0, 0x5d, 0xc3};
  std::memcpy(at, code, sizeof code);
  std::memcpy(at + 6, &callee, sizeof callee);
  return reinterpret_cast<Function>(at);
}

}  // namespace

int main(int argc, char** argv) {
  const int allocations = argc > 1 ? atoi(argv[1]) : 100;
  auto* code = static_cast<unsigned char*>(
      mmap(nullptr, 4096, PROT_READ | PROT_WRITE | PROT_EXEC, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0));
  if (code == MAP_FAILED) return 1;
  const Function inner = make_caller(code, allocate);
  const Function outer = make_caller(code + 64, inner);
  for (int i = 0; i < allocations; ++i) outer();
  if (argc > 2) return 0;

  char path[64];
  std::snprintf(path, sizeof path, "/tmp/perf-%d.map", getpid());
  FILE* map = std::fopen(path, "w");
  if (map == nullptr) return 1;
  std::fprintf(map, "%lx 40 stale name\n", reinterpret_cast<unsigned long>(code));
  std::fprintf(map, "%lx 12 JS:*inner /app/loop.js:3:5\n", reinterpret_cast<unsigned long>(code));
  std::fprintf(map, "%lx 12 JS:~outer /app/loop.js:9:1\n", reinterpret_cast<unsigned long>(code + 64));
  std::fclose(map);
  std::puts(path);
  return 0;
}
