// tests/targets/malloc/oracle/raw.h: what the oracle needs of an operating system, without one allocation of its own.
//
// Guarantees
//  - Nothing here calls malloc: memory comes from mmap, text goes out by write.
#pragma once

#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <sys/mman.h>
#include <time.h>
#include <unistd.h>

namespace oracle {

[[noreturn]] inline void die(const char* why) {
  (void)!write(2, "oracle: ", 8);
  (void)!write(2, why, strlen(why));
  (void)!write(2, "\n", 1);
  _exit(99);
}

// Zeroed memory that takes room only as it is touched.
inline void* map_bytes(size_t size_bytes) {
  void* memory = mmap(nullptr, size_bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (memory == MAP_FAILED) die("mmap refused the memory of the books");
  return memory;
}

template <typename T>
T* map_array(size_t count) {
  return static_cast<T*>(map_bytes(count * sizeof(T) + 1));
}

// A time that no instruction before or after it can slip past.
inline uint64_t fenced_time() {
#if defined(__x86_64__)
  __builtin_ia32_lfence();
  uint64_t time = __builtin_ia32_rdtsc();
  __builtin_ia32_lfence();
  return time;
#else
  timespec now;
  clock_gettime(CLOCK_MONOTONIC, &now);
  return static_cast<uint64_t>(now.tv_sec) * 1000000000 + static_cast<uint64_t>(now.tv_nsec);
#endif
}

// splitmix64: small, seeded, the same on every machine.
class Random {
 public:
  explicit Random(uint64_t seed) : state_(seed) {}
  uint64_t next() {
    uint64_t z = (state_ += 0x9e3779b97f4a7c15);
    z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9;
    z = (z ^ (z >> 27)) * 0x94d049bb133111eb;
    return z ^ (z >> 31);
  }
  uint64_t below(uint64_t limit) { return next() % limit; }
  bool one_in(uint64_t n) { return below(n) == 0; }

 private:
  uint64_t state_;
};

}  // namespace oracle
