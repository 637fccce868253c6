// tests/targets/collector/scribbles.cc: overwrites the memory that it shares with heapprof, at random, while it
// allocates.
// usage: scribbles SEED [ROUNDS]. Exit status 0 if all went as it would alone.
#include "../keep.h"

#include <stdio.h>
#include <string.h>

#include <random>
#include <vector>

namespace {

struct Range {
  unsigned char* start;
  unsigned long bytes;
};

// The agent's mappings of the arena.
std::vector<Range> find_arena() {
  std::vector<Range> ranges;
  FILE* maps = fopen("/proc/self/maps", "r");
  char line[512];
  while (maps != nullptr && fgets(line, sizeof line, maps) != nullptr) {
    unsigned long start = 0, end = 0;
    if (strstr(line, "memfd:heapprof") == nullptr || sscanf(line, "%lx-%lx", &start, &end) != 2) continue;
    ranges.push_back({reinterpret_cast<unsigned char*>(start), end - start});
  }
  if (maps != nullptr) fclose(maps);
  return ranges;
}

KEEP_FRAME void* allocate(size_t size_bytes) { return keep(malloc(size_bytes)); }

}  // namespace

int main(int argc, char** argv) {
  std::mt19937_64 random(argc > 1 ? strtoul(argv[1], nullptr, 10) : 1);
  const long rounds = argc > 2 ? atol(argv[2]) : 20000;
  free(allocate(1235));
  const std::vector<Range> arena = find_arena();
  // The agent trusts the collector, so what the collector writes stays: the control page, and each header's second
  // half.
  constexpr unsigned long kControlBytes = 4096, kFirstRings = 4096 + (1u << 20) + 256 * 256, kHeaderBytes = 256;
  const unsigned char* control = arena.empty() ? nullptr : arena[0].start;
  long sum = 0;
  for (long i = 0; i < rounds; ++i) {
    unsigned char* block = static_cast<unsigned char*>(allocate(16 + random() % 4000));
    memset(block, static_cast<int>(i), 16);
    if (!arena.empty() && i % 16 == 0) {
      const Range& range = arena[random() % arena.size()];
      const unsigned long limit = random() % 2 == 0 ? range.bytes : range.bytes < (1u << 21) ? range.bytes : (1u << 21);
      const unsigned long offset = random() % (limit / 8) * 8;
      const unsigned long in_arena = static_cast<unsigned long>(range.start + offset - control);
      const bool is_header =
          in_arena >= kControlBytes + (1u << 20) + 256 * 256 && in_arena < kFirstRings + 4096 * kHeaderBytes;
      const bool is_collectors = in_arena < kControlBytes || (is_header && in_arena % kHeaderBytes >= kHeaderBytes / 2);
      const unsigned long value = random() % 3 == 0 ? random() : random() % 4096;
      if (!is_collectors) memcpy(range.start + offset, &value, sizeof value);
    }
    sum += block[3];
    free(block);
  }
  printf("%ld\n", sum);
  return 0;
}
