// tests/unit/agent_process/own_memory_test.cc: memory that is there, that ends, that is nowhere.
#include "agent/process/own_memory.h"

#include <catch2/catch.hpp>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <cstdint>
#include <cstring>
#include <string>

namespace heapprof::agent {
static bool g_filtered = false;
bool is_filtered() { return g_filtered; }
}  // namespace heapprof::agent

using namespace heapprof::agent;

namespace {

constexpr size_t kPage = 4096;

// Some pages, and behind them one that cannot be read.
class Pages {
 public:
  explicit Pages(size_t count) : bytes_(count * kPage) {
    void* at = mmap(nullptr, bytes_ + kPage, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    REQUIRE(at != MAP_FAILED);
    start_ = static_cast<char*>(at);
    REQUIRE(mprotect(end(), kPage, PROT_NONE) == 0);
    for (size_t i = 0; i < bytes_; ++i) start_[i] = static_cast<char>('a' + i % 23);
  }
  ~Pages() { munmap(start_, bytes_ + kPage); }
  Pages(const Pages&) = delete;
  Pages& operator=(const Pages&) = delete;
  char* start() const { return start_; }
  char* end() const { return start_ + bytes_; }

 private:
  size_t bytes_;
  char* start_ = nullptr;
};

const void* address(uintptr_t value) { return reinterpret_cast<const void*>(value); }

}  // namespace

TEST_CASE("memory is copied as it is, over any number of pages") {
  const Pages pages(40);
  std::string copy(39 * kPage, '\0');
  for (const size_t offset : {size_t{0}, size_t{1}, kPage - 1, kPage}) {
    for (const size_t bytes : {size_t{1}, kPage, 17 * kPage + 5, 38 * kPage}) {
      REQUIRE(read_own_memory(copy.data(), pages.start() + offset, bytes));
      CHECK(std::memcmp(copy.data(), pages.start() + offset, bytes) == 0);
    }
  }
  CHECK(read_own_memory(copy.data(), pages.end(), 0));
}

TEST_CASE("what ends before it is read whole is read up to there") {
  const Pages pages(40);
  std::string copy(42 * kPage, '\0');
  for (const size_t bytes : {size_t{1}, kPage, 3 * kPage + 7, 16 * kPage, 39 * kPage + 1}) {
    CHECK(read_own_part(copy.data(), pages.end() - bytes, bytes + 1) == bytes);
    CHECK(std::memcmp(copy.data(), pages.end() - bytes, bytes) == 0);
    CHECK_FALSE(read_own_memory(copy.data(), pages.end() - bytes, bytes + 1));
    CHECK(read_own_memory(copy.data(), pages.end() - bytes, bytes));
  }
}

TEST_CASE("an address that is none gives nothing, and errno is as before") {
  char copy[64];
  errno = 4711;
  for (const uintptr_t value : {uintptr_t{0}, uintptr_t{1}, uintptr_t{4095}, uintptr_t{1} << 47, ~uintptr_t{0},
                                ~uintptr_t{0} - 7, uintptr_t{1} << 63, uintptr_t{0xffffffffff600000} - kPage}) {
    CHECK(read_own_part(copy, address(value), sizeof copy) == 0);
    CHECK(read_own_string(copy, sizeof copy, static_cast<const char*>(address(value))) == kNoString);
    CHECK(measure_own_string(static_cast<const char*>(address(value)), 1 << 17) == kNoString);
  }
  CHECK(errno == 4711);
}

TEST_CASE("a string is read up to its zero byte, and no further") {
  const Pages pages(4);
  std::string copy(4 * kPage, 'x');
  for (const size_t length : {size_t{0}, size_t{1}, size_t{255}, size_t{256}, size_t{257}, kPage, 2 * kPage + 9}) {
    char* text = pages.end() - length - 1;
    text[length] = '\0';
    CHECK(read_own_string(copy.data(), copy.size(), text) == length);
    CHECK(copy.c_str() == std::string(text));
    CHECK(read_own_string(copy.data(), length + 1, text) == length);
    CHECK(read_own_string(copy.data(), length, text) == kNoString);
    CHECK(measure_own_string(text, length) == length);
    if (length != 0) CHECK(measure_own_string(text, length - 1) == kNoString);
    text[length] = 'x';  // no zero byte up to the end of what is there
    CHECK(read_own_string(copy.data(), copy.size(), text) == kNoString);
    CHECK(measure_own_string(text, 1 << 17) == kNoString);
  }
}

TEST_CASE("pages without access, and pages that are gone, cannot be read") {
  char copy[8];
  void* nothing = mmap(nullptr, kPage, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  CHECK(read_own_part(copy, nothing, 8) == 0);
  munmap(nothing, kPage);
  CHECK(read_own_part(copy, nothing, 8) == 0);
}

#ifndef __SANITIZE_THREAD__  // which makes vfork a fork
TEST_CASE("a vfork child reads the memory that it borrows") {
  const char text[] = "borrowed";
  volatile bool is_read = false;
  const pid_t child = vfork();
  if (child == 0) {
    char copy[sizeof text];
    is_read = read_own_string(copy, sizeof copy, text) == sizeof text - 1;
    _exit(0);
  }
  REQUIRE(waitpid(child, nullptr, 0) == child);
  CHECK(is_read);
}
#endif

TEST_CASE("under a filter of system calls nothing is asked") {
  char copy[8];
  g_filtered = true;
  CHECK(read_own_part(copy, "12345678", 8) == 0);
  g_filtered = false;
  CHECK(read_own_memory(copy, "12345678", 8));
}
