// tests/unit/collect/target_memory_test.cc: the memory of another process is read without a change to it, and never for
// longer than there is somebody to read for: it may be killed at any time, and have mapped much more than there is.
#include "cli/collect/leaks/target_memory.h"

#include <catch2/catch.hpp>
#include <fcntl.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstring>
#include <span>
#include <vector>

namespace heapprof::cli {
namespace {

constexpr uint64_t kPage = 4096;
// As much as ThreadSanitizer leaves a program room for: it keeps all addresses but 1.5 TiB to itself.
constexpr uint64_t kHuge = uint64_t{512} << 30;

// A child of ours, with our mappings, that waits until it is killed.
class Child {
 public:
  Child() : pid_(::fork()) {
    while (pid_ == 0) ::pause();
  }
  ~Child() { kill(); }
  void kill() {
    if (pid_ <= 0) return;
    ::kill(pid_, SIGKILL);
    ::waitpid(pid_, nullptr, 0);
    pid_ = 0;
  }
  pid_t pid() const { return pid_; }

 private:
  pid_t pid_;
};

uint64_t address_of(const void* memory) { return reinterpret_cast<uint64_t>(memory); }

std::vector<uint64_t> words_in(TargetMemory* memory, MemoryRange range) {
  std::vector<uint64_t> found;
  memory->visit(range, [&found](std::span<const uint64_t> words, uint64_t) {
    for (const uint64_t word : words) {
      if (word != 0) found.push_back(word);
    }
  });
  return found;
}

void* map(uint64_t bytes, int flags, int file) {
  void* const memory = ::mmap(nullptr, bytes, PROT_READ | PROT_WRITE, flags, file, 0);
  CHECK(memory != MAP_FAILED);
  return memory;
}

// As newer and older kernels tell which pages there are.
void check_huge(bool can_scan) {
  char* const huge = static_cast<char*>(map(kHuge, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1));
  const MemoryRange range{address_of(huge), address_of(huge) + kHuge};
  const uint64_t word = 77;
  std::memcpy(huge + (uint64_t{1} << 30), &word, sizeof word);
  Child child;
  {
    TargetMemory memory(child.pid());
    if (!can_scan) memory.forgo_scan();
    // Half a terabyte without a page is as good as none where the kernel can be asked for what is there.
    const uint64_t searched = can_scan ? kHuge : uint64_t{2} << 30;
    CHECK(words_in(&memory, {range.start, range.start + searched}) == std::vector<uint64_t>{77});
    CHECK(memory.unread_bytes() == 0);
    int asked = 0;
    memory.set_interrupt([&asked] { return ++asked > 3; });
    words_in(&memory, range);
    CHECK(memory.is_stopped());
    CHECK(asked == 4);
  }
  TargetMemory memory(child.pid());
  if (!can_scan) memory.forgo_scan();
  child.kill();
  CHECK(words_in(&memory, range).empty());
  CHECK(words_in(&memory, {range.start, range.start + kPage}).empty());
  CHECK(memory.is_gone());
  CHECK(memory.is_stopped());
  ::munmap(huge, kHuge);
}

}  // namespace

TEST_CASE("a search through half a terabyte ends with the process, or when it is told to") {
  check_huge(true);
  check_huge(false);
}

// Two pages of 15 and of 30, of which one was written: to read the others would give the file blocks.
TEST_CASE("a file with holes that the process shares keeps them") {
  for (const uint64_t pages : {uint64_t{15}, uint64_t{30}}) {
    for (const bool can_scan : {true, false}) {
      const int file = ::memfd_create("holes", 0);
      CHECK(::ftruncate(file, static_cast<off_t>(pages * kPage)) == 0);
      char* const shared = static_cast<char*>(map(pages * kPage, MAP_SHARED, file));
      Child child;
      CHECK(::pwrite(file, "12345678", 8, 3 * kPage) == 8);
      TargetMemory memory(child.pid());
      if (!can_scan) memory.forgo_scan();
      const MemoryRange range{address_of(shared), address_of(shared) + pages * kPage};
      CHECK(words_in(&memory, range).empty());  // nobody has looked at it, and so it is not read
      CHECK(memory.pages_of(range).empty());
      struct stat facts {};
      CHECK(::fstat(file, &facts) == 0);
      CHECK(facts.st_blocks == kPage / 512);
      ::munmap(shared, pages * kPage);
      ::close(file);
    }
  }
}

// Whether the kernel gave the process a page of its own for an address. Some kernels do so for a read as well, instead
// of the page of zeros that all share.
bool has_own_page(const char* address) {
  uint64_t entry = 0;
  const int pages = ::open("/proc/self/pagemap", O_RDONLY);
  const auto at = static_cast<off_t>(address_of(address) / kPage * sizeof entry);
  CHECK(::pread(pages, &entry, sizeof entry, at) == sizeof entry);
  ::close(pages);
  return (entry >> 56 & 1) != 0;  // mapped by this process alone
}

TEST_CASE("pages that were only read are not written ones, as newer and older kernels tell them") {
  for (const bool can_scan : {true, false}) {
    char* const memory = static_cast<char*>(map(8 * kPage, MAP_PRIVATE | MAP_ANONYMOUS, -1));
    memory[2 * kPage] = 1;
    memory[5 * kPage] = 1;
    const char sum = static_cast<char>(memory[0] + static_cast<volatile char*>(memory)[3 * kPage]);
    CHECK(sum == 0);
    TargetMemory own(::getpid());
    if (!can_scan) own.forgo_scan();
    const MemoryRange range{address_of(memory), address_of(memory) + 8 * kPage};
    const auto pages = [&range](const std::vector<MemoryRange>& found) {
      std::string text;
      for (const MemoryRange& it : found)
        text += std::to_string((it.start - range.start) / kPage) + "-" +
                std::to_string((it.end - range.start) / kPage) + " ";
      return text;
    };
    CHECK(pages(own.written_pages(range)) == (has_own_page(memory) ? "0-1 2-4 5-6 " : "2-3 5-6 "));
    CHECK(pages(own.pages_of(range)) == "0-1 2-4 5-6 ");
    ::munmap(memory, 8 * kPage);
  }
}

// Memory so far apart takes the same place among the windows that are kept.
TEST_CASE("words stay what they are while other memory is visited") {
  constexpr uint64_t kApart = 64 << 20;
  char* const memory = static_cast<char*>(map(kApart + kPage, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1));
  const auto put = [memory](uint64_t at, uint64_t word) { std::memcpy(memory + at, &word, sizeof word); };
  put(8, 1);
  put(800, 2);
  put(kApart + 800, 3);
  Child child;
  TargetMemory target(child.pid());
  const uint64_t start = address_of(memory);
  std::vector<uint64_t> found;
  target.visit({start, start + kPage}, [&](std::span<const uint64_t> words, uint64_t) {
    for (const uint64_t word : words) {
      if (word != 0) found.push_back(word);
      if (word == 1) CHECK(words_in(&target, {start + kApart, start + kApart + kPage}) == std::vector<uint64_t>{3});
    }
  });
  CHECK(found == std::vector<uint64_t>{1, 2});
  ::munmap(memory, kApart + kPage);
}

TEST_CASE("what may not be read is counted, once for each page of the range") {
  char* const pages = static_cast<char*>(map(40 * kPage, MAP_PRIVATE | MAP_ANONYMOUS, -1));
  std::memset(pages, 1, 40 * kPage);
  CHECK(::mprotect(pages + 2 * kPage, kPage, PROT_NONE) == 0);
  Child child;
  for (const uint64_t count : {uint64_t{4}, uint64_t{40}}) {
    TargetMemory memory(child.pid());
    const uint64_t start = address_of(pages);
    CHECK(words_in(&memory, {start, start + count * kPage}).size() == (count - 1) * kPage / 8);
    CHECK(memory.unread_bytes() == kPage);
  }
  ::munmap(pages, 40 * kPage);
}

}  // namespace heapprof::cli
