// tests/targets/mapped/mappings.cc: maps, unmaps, moves and protects pages at random, with a list of every page as its
// books.
//
// Half of the calls are made by syscall(), as runtimes make them.
//
// usage: mappings SEED THREADS STEPS locked|free    prints for each device: name, total bytes, blocks, peak, bytes and
//                                                   blocks left
//        locked: the threads take turns, so that there is one order of events and one peak; free: the peak is printed
//        as 0
#include "../keep.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <sys/utsname.h>
#include <unistd.h>

#include <algorithm>
#include <map>
#include <mutex>
#include <random>
#include <set>
#include <thread>
#include <vector>

namespace {

constexpr uint64_t kPage = 4096;

enum Device { kMapped, kFile, kReserved, kDevices };
constexpr const char* kNames[] = {"mapped", "mapped:file", "mapped:reserved"};

struct Page {
  Device device;
  bool is_file;
  uint64_t block;
};

struct Sums {
  uint64_t total_bytes = 0, blocks = 0, live_bytes = 0, peak_bytes = 0;
};
Sums all[kDevices];  // under the lock
std::mutex turn;
bool is_locked = false;
bool may_move_several = false;
int file = -1;

void die(const char* what) {
  fprintf(stderr, "%s: %s\n", what, strerror(errno));
  exit(1);
}

bool is_linux(int wanted_major, int wanted_minor) {
  utsname kernel = {};
  int major = 0, minor = 0;
  if (uname(&kernel) != 0 || sscanf(kernel.release, "%d.%d", &major, &minor) != 2) return false;
  return major > wanted_major || (major == wanted_major && minor >= wanted_minor);
}

// Calls a function, or has its number called: every other time.
template <typename Function, typename... Arguments>
auto call(Function function, long number, Arguments... arguments) -> decltype(function(arguments...)) {
  static thread_local bool is_by_number = false;
  is_by_number = !is_by_number;
  using Result = decltype(function(arguments...));
  return is_by_number ? (Result)syscall(number, (long)arguments...) : function(arguments...);
}

KEEP_FRAME void* map_pages(void* at, size_t bytes, int protection, int flags, int fd) {
  void* got = keep(call(mmap, SYS_mmap, at, bytes, protection, flags, fd, 0L));
  if (got == MAP_FAILED) die("mmap");
  return got;
}

class Worker {
 public:
  Worker(uint64_t seed, int number) : random_(seed), next_block_(static_cast<uint64_t>(number) << 40) {}

  void work(int steps) {
    for (int i = 0; i < steps; ++i) {
      std::unique_lock<std::mutex> guard(turn, std::defer_lock);
      if (is_locked) guard.lock();
      step();
      if (is_locked) note_peak();
    }
    const std::lock_guard<std::mutex> guard(turn);
    if (!is_locked) add_sums();
  }
  const std::map<uint64_t, Page>& pages() const { return pages_; }

 private:
  using Pages = std::map<uint64_t, Page>;
  struct Run {
    uint64_t start, end;
  };
  static void* at(const Run& run) { return reinterpret_cast<void*>(run.start); }

  void step() {
    const unsigned choice = pages_.empty() ? 0 : random_() % 10;
    if (choice < 3) {
      map(nullptr, 1 + random_() % 40);
    } else if (choice == 3) {
      const Run run = pick();
      map(reinterpret_cast<void*>(run.start), (run.end - run.start) / kPage);
    } else if (choice < 6) {
      unmap();
    } else if (choice < 8) {
      may_move_several&& random_() % 2 == 0 ? move_several() : move();
    } else {
      protect();
    }
  }

  void map(void* over, uint64_t pages) {
    const Device device = static_cast<Device>(random_() % kDevices);
    const bool is_file = device == kFile || (device == kReserved && random_() % 2 == 0);
    const int protection = device == kReserved ? PROT_NONE : random_() % 2 == 0 ? PROT_READ : PROT_READ | PROT_WRITE;
    const int flags = MAP_PRIVATE | (is_file ? 0 : MAP_ANONYMOUS) | (over == nullptr ? 0 : MAP_FIXED);
    const size_t bytes = pages * kPage - random_() % kPage;  // the kernel maps whole pages
    void* got = map_pages(over, bytes, protection, flags, is_file ? file : -1);
    const auto start = reinterpret_cast<uint64_t>(got);
    forget({start, start + pages * kPage});
    begin({start, start + pages * kPage}, device, is_file);
  }

  void unmap() {
    const Run run = pick();
    void* start = reinterpret_cast<void*>(run.start);
    if (random_() % 8 == 0) {  // beyond all addresses: refused
      if (call(munmap, SYS_munmap, start, 1ul << 47) == 0) die("munmap of everything");
      if (call(munmap, SYS_munmap, static_cast<char*>(start) + 1, kPage) == 0) die("munmap of no page");
    }
    forget(run);
    if (call(munmap, SYS_munmap, start, run.end - run.start - random_() % kPage) != 0) die("munmap");
  }

  void move() {
    const Run run = pick();
    const uint64_t pages = 1 + random_() % 40;
    const Page first = pages_.at(run.start);
    const int flags = random_() % 4 == 0 ? 0 : MREMAP_MAYMOVE;
    const size_t bytes = random_() % 16 == 0 ? 1ull << 48 : pages * kPage;
    void* got = keep(call(mremap, SYS_mremap, reinterpret_cast<void*>(run.start), run.end - run.start, bytes, flags));
    if (got == MAP_FAILED) return;  // no room in place, several areas, or too much
    const auto start = reinterpret_cast<uint64_t>(got);
    // What keeps its size, or shrinks where it is, may be several areas, which keep their kinds; else it is one.
    const bool is_one = run.start + pages * kPage > run.end || (run.start + pages * kPage < run.end && got != at(run));
    std::map<uint64_t, Page> kinds;
    for (uint64_t i = 0; i < pages; ++i) kinds[i] = is_one ? first : pages_.at(run.start + i * kPage);
    forget(run);
    begin_each(start, kinds);
  }

  // Several areas, and holes where no other thread may fill them, onto pages of which those opposite the holes stay.
  void move_several() {
    const uint64_t pages = 2 + random_() % 20;
    void* got = map_pages(nullptr, 2 * pages * kPage, PROT_READ, MAP_PRIVATE | MAP_ANONYMOUS, -1);
    const auto start = reinterpret_cast<uint64_t>(got);
    const uint64_t middle = start + pages * kPage;
    begin({start, middle + pages * kPage}, kMapped, false);
    for (int i = 0; i < 4; ++i) {
      if (is_locked) note_peak();
      const uint64_t first = 1 + random_() % (pages - 1);
      const Run run{start + first * kPage, start + (first + 1 + random_() % (pages - first)) * kPage};
      if (is_locked && random_() % 2 == 0) {
        forget(run);
        if (munmap(at(run), run.end - run.start) != 0) die("munmap");
      } else {
        map(at(run), (run.end - run.start) / kPage);
      }
    }
    if (is_locked) note_peak();
    constexpr int kDontUnmap = 4;  // MREMAP_DONTUNMAP
    const bool is_copy = random_() % 2 == 0;
    const int flags = MREMAP_MAYMOVE | MREMAP_FIXED | (is_copy ? kDontUnmap : 0);
    if (random_() % 4 == 0) {  // in place, up to a page in the middle, which may be a hole
      const uint64_t left = 1 + random_() % pages;
      if (call(mremap, SYS_mremap, got, pages * kPage, left * kPage, MREMAP_MAYMOVE) != got) die("mremap in place");
      const std::map<uint64_t, Page> kinds = kinds_in({start, start + left * kPage});
      forget({start, middle});
      return begin_each(start, kinds);
    }
    const std::map<uint64_t, Page> kinds = kinds_in({start, middle});
    void* there = reinterpret_cast<void*>(middle);
    if (call(mremap, SYS_mremap, got, pages * kPage, pages * kPage, flags, there) != there) die("mremap of several");
    if (!is_copy) forget({start, middle});
    begin_each(middle, kinds);
  }
  std::map<uint64_t, Page> kinds_in(const Run& run) const {
    std::map<uint64_t, Page> kinds;
    for (auto page = pages_.lower_bound(run.start); page != pages_.end() && page->first < run.end; ++page)
      kinds[(page->first - run.start) / kPage] = page->second;
    return kinds;
  }
  // By number from the start: a block for each kind.
  void begin_each(uint64_t start, const std::map<uint64_t, Page>& kinds) {
    uint64_t blocks[kDevices][2] = {};
    for (const auto& [number, kind] : kinds) {
      const auto [device, is_file, _] = kind;
      const uint64_t address = start + number * kPage;
      forget({address, address + kPage});
      uint64_t& block = blocks[device][is_file ? 1 : 0];
      if (block == 0) {
        block = ++next_block_;
        ++own_[device].blocks;
      }
      pages_[address] = {device, is_file, block};
      own_[device].live_bytes += kPage;
      own_[device].total_bytes += kPage;
    }
  }

  void protect() {
    const Run run = pick();
    const bool is_reserved = random_() % 2 == 0;
    const int protection = is_reserved ? PROT_NONE : random_() % 2 == 0 ? PROT_READ : PROT_READ | PROT_WRITE;
    if (call(mprotect, SYS_mprotect, reinterpret_cast<void*>(run.start), run.end - run.start, protection) != 0)
      die("mprotect");
    uint64_t blocks[2] = {0, 0};  // anonymous, of files
    for (uint64_t at = run.start; at < run.end; at += kPage) {
      Page& page = pages_.at(at);
      if ((page.device == kReserved) == is_reserved) continue;
      uint64_t& block = blocks[page.is_file ? 1 : 0];
      const Device to = is_reserved ? kReserved : page.is_file ? kFile : kMapped;
      if (block == 0) {
        block = ++next_block_;
        ++own_[to].blocks;
      }
      own_[page.device].live_bytes -= kPage;
      own_[to].live_bytes += kPage;
      own_[to].total_bytes += kPage;
      page = {to, page.is_file, block};
    }
  }

  // Pages of ours without a hole, of one mapping or of several.
  Run pick() {
    auto at =
        pages_.lower_bound(pages_.begin()->first + random_() % (pages_.rbegin()->first - pages_.begin()->first + 1));
    const uint64_t start = at->first;
    uint64_t end = start;
    for (uint64_t left = 1 + random_() % 60; left > 0 && at != pages_.end() && at->first == end; --left, ++at)
      end += kPage;
    return {start, end};
  }

  void begin(const Run& run, Device device, bool is_file) {
    ++next_block_;
    ++own_[device].blocks;
    for (uint64_t at = run.start; at < run.end; at += kPage) {
      pages_[at] = {device, is_file, next_block_};
      own_[device].live_bytes += kPage;
      own_[device].total_bytes += kPage;
    }
  }
  void forget(const Run& run) {
    for (auto at = pages_.lower_bound(run.start); at != pages_.end() && at->first < run.end; at = pages_.erase(at))
      own_[at->second.device].live_bytes -= kPage;
  }

  void add_sums() {
    for (int i = 0; i < kDevices; ++i) {
      all[i].total_bytes += own_[i].total_bytes - told_[i].total_bytes;
      all[i].blocks += own_[i].blocks - told_[i].blocks;
      all[i].live_bytes += own_[i].live_bytes - told_[i].live_bytes;
      told_[i] = own_[i];
    }
  }
  void note_peak() {
    add_sums();
    for (Sums& sums : all) sums.peak_bytes = std::max(sums.peak_bytes, sums.live_bytes);
  }

  std::mt19937_64 random_;
  uint64_t next_block_;
  Pages pages_;
  Sums own_[kDevices];
  Sums told_[kDevices];  // of them in `all`
};

// The break belongs to libc's malloc as well: nothing may be allocated in between.
void move_break() {
  const auto round_up = [](uint64_t address) { return (address + kPage - 1) / kPage * kPage; };
  const auto before = reinterpret_cast<uint64_t>(keep(sbrk(50'001)));
  if (sbrk(-20'002) == reinterpret_cast<void*>(-1)) die("sbrk");
  if (brk(reinterpret_cast<void*>(before + 90'003)) != 0) die("brk");
  if (brk(reinterpret_cast<void*>(before + 40'004)) != 0) die("brk");
  const uint64_t first = round_up(before + 50'001) - round_up(before);
  const uint64_t left = round_up(before + 29'999) - round_up(before);
  const uint64_t second = round_up(before + 90'003) - round_up(before + 29'999);
  const uint64_t end = round_up(before + 40'004) - round_up(before);
  all[kMapped] = {first + second, 2, end, left + second};
}

}  // namespace

int main(int argc, char** argv) {
  if (argc != 5) return 2;
  const auto seed = static_cast<uint64_t>(atoll(argv[1]));
  is_locked = strcmp(argv[4], "locked") == 0;
  may_move_several = is_linux(6, 17);
  file = memfd_create("pages", 0);
  move_break();
  std::vector<Worker> workers;
  for (int i = 0; i < atoi(argv[2]); ++i) workers.emplace_back(seed + static_cast<uint64_t>(i), i + 1);
  std::vector<std::thread> threads;
  for (Worker& worker : workers) threads.emplace_back([&worker, argv] { worker.work(atoi(argv[3])); });
  for (std::thread& thread : threads) thread.join();
  std::set<uint64_t> left[kDevices];
  for (const Worker& worker : workers) {
    for (const auto& [address, page] : worker.pages()) left[page.device].insert(page.block);
  }
  for (int i = 0; i < kDevices; ++i) {
    // What sbrk and brk left is two blocks.
    const size_t blocks = left[i].size() + (i == kMapped ? 2 : 0);
    printf("%s %lu %lu %lu %lu %zu\n", kNames[i], all[i].total_bytes, all[i].blocks, is_locked ? all[i].peak_bytes : 0,
           all[i].live_bytes, blocks);
  }
}
