// tests/targets/profile/keeps_pages.cc: has 40 MiB of the heap, frees nearly all of it, and goes on for half a second
// (scattered, top, rooms: until SIGUSR1).
//   scattered   one small block in 20 stays: prints which pages of what it had are there now, by its own account:
//               "RESIDENT EMPTY SPARSE PIECES", in bytes, but the last
//   top         the last block alone stays
//   trimmed     as scattered, and malloc_trim(0)
//   again       as scattered, and all of it once more
//   returned    nothing stays
//   rooms       has three blocks of 40 MiB instead, of which it writes 3 MiB, 5 MiB and nothing: prints "UNTOUCHED", of
//               whole pages, by its own account
#include <fcntl.h>
#include <malloc.h>
#include <signal.h>
#include <sys/prctl.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <string>
#include <thread>
#include <vector>

namespace {

constexpr uint64_t kPage = 4096;
constexpr size_t kBlocks = 20'000;
constexpr size_t kWorkBytes = 2000;
constexpr size_t kKeptBytes = 100;

char* work_block() {
  auto* const block = static_cast<char*>(malloc(kWorkBytes));
  memset(block, 1, kWorkBytes);
  return block;
}
char* kept_block() {
  auto* const block = static_cast<char*>(malloc(kKeptBytes));
  memset(block, 2, kKeptBytes);
  return block;
}

// By /proc/self/pagemap, over whole pages between the first block and the last.
void account(const std::vector<char*>& kept, uint64_t first, uint64_t last) {
  const uint64_t start = (first + kPage - 1) / kPage * kPage;
  const uint64_t pages = (last / kPage * kPage - start) / kPage;
  std::vector<uint64_t> used(pages + 2);
  for (const char* block : kept) {
    const auto address = reinterpret_cast<uint64_t>(block);
    const uint64_t end = std::min(address + 112, (address + kKeptBytes - 1) / kPage * kPage + kPage);
    for (uint64_t at = address; at < end; ++at) {
      if (at >= start && at < start + pages * kPage) ++used[(at - start) / kPage];
    }
  }
  const int file = open("/proc/self/pagemap", O_RDONLY);
  uint64_t resident = 0, empty = 0, sparse = 0, pieces = 0;
  bool was_empty = false;
  for (uint64_t i = 0; i < pages; ++i) {
    uint64_t entry = 0;
    if (pread(file, &entry, sizeof entry, static_cast<off_t>((start / kPage + i) * sizeof entry)) != sizeof entry)
      exit(3);
    if (entry >> 62 == 0) continue;
    resident += kPage;
    if (used[i] == 0) {
      empty += kPage;
      pieces += was_empty ? 0 : 1;
    } else if (used[i] < kPage / 2) {
      sparse += kPage - used[i];
    }
    was_empty = used[i] == 0;
  }
  close(file);
  printf("%lu %lu %lu %lu\n", resident, empty, sparse, pieces);
}

uint64_t untouched_bytes(const char* block, size_t bytes) {
  const auto address = reinterpret_cast<uint64_t>(block);
  const int file = open("/proc/self/pagemap", O_RDONLY);
  uint64_t untouched = 0;
  for (uint64_t page = (address + kPage - 1) / kPage; page < (address + bytes) / kPage; ++page) {
    uint64_t entry = 0;
    if (pread(file, &entry, sizeof entry, static_cast<off_t>(page * sizeof entry)) != sizeof entry) exit(3);
    untouched += entry >> 62 == 0 ? kPage : 0;
  }
  close(file);
  return untouched;
}

char* room() { return static_cast<char*>(malloc(40 << 20)); }

void keep_rooms(const sigset_t& told) {
  uint64_t untouched = 0;
  for (const size_t written : {3 << 20, 5 << 20, 0}) {
    char* const block = room();
    memset(block, 1, written);
    untouched += untouched_bytes(block, 40 << 20);
  }
  printf("%lu\n", untouched);
  const timespec most{120, 0};
  sigtimedwait(&told, nullptr, &most);
  _exit(0);
}

}  // namespace

int main(int, char** words) {
  const std::string mode = words[1];
  setvbuf(stdout, nullptr, _IONBF, 0);
  prctl(PR_SET_THP_DISABLE, 1, 0, 0, 0);
  sigset_t told;
  sigemptyset(&told);
  sigaddset(&told, SIGUSR1);
  sigprocmask(SIG_BLOCK, &told, nullptr);
  if (mode == "rooms") keep_rooms(told);
  std::vector<char*> work;
  std::vector<char*> kept;
  work.reserve(kBlocks);
  kept.reserve(kBlocks);
  const bool is_scattered = mode != "top" && mode != "returned";
  for (size_t i = 0; i < kBlocks; ++i) {
    work.push_back(work_block());
    if (is_scattered && i % 20 == 10) kept.push_back(kept_block());
  }
  const auto first = reinterpret_cast<uint64_t>(work.front());
  const auto last = reinterpret_cast<uint64_t>(work.back());
  if (mode == "top") kept.push_back(kept_block());
  std::this_thread::sleep_for(std::chrono::milliseconds(60));
  for (char* block : work) free(block);
  work.clear();
  if (mode == "trimmed") malloc_trim(0);
  if (mode == "scattered") account(kept, first, last);
  const timespec most{mode == "scattered" || mode == "top" ? 120 : 0, 500'000'000};
  sigtimedwait(&told, nullptr, &most);
  if (mode == "again") {
    for (size_t i = 0; i < kBlocks; ++i) work.push_back(work_block());
  }
  _exit(0);
}
