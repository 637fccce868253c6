// tests/unit/collect/process_files_test.cc: what /proc and open files say of a process, and that nothing but regular
// files is opened.
#include "cli/collect/process_files.h"

#include <catch2/catch.hpp>
#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>

namespace heapprof::cli {
namespace {

std::string content_of(const std::shared_ptr<UniqueFd>& file) {
  char text[64];
  const ssize_t bytes = file == nullptr ? 0 : ::pread(file->get(), text, sizeof text, 0);
  return std::string(text, bytes > 0 ? static_cast<size_t>(bytes) : 0);
}

TEST_CASE("regular files are opened, and nothing else is") {
  const auto folder = std::filesystem::temp_directory_path() / ("heapprof-files-" + std::to_string(::getpid()));
  std::filesystem::create_directories(folder);
  std::ofstream(folder / "a.so") << "content";
  std::filesystem::create_symlink("a.so", folder / "link.so");
  REQUIRE(::mkfifo((folder / "fifo").c_str(), 0600) == 0);
  ProcessFiles files(::getpid());
  CHECK(content_of(files.open_path(folder / "a.so")) == "content");
  CHECK(content_of(files.open_path(folder / "link.so")) == "content");
  CHECK(files.open_path(folder / "fifo") == nullptr);  // opening it would wait for ever
  CHECK(files.open_path(folder) == nullptr);
  CHECK(files.open_path("/dev/null") == nullptr);
  CHECK(files.open_path(folder / "none.so") == nullptr);
  CHECK(files.open_path("linux-vdso.so.1") == nullptr);
  CHECK(files.open_path("") == nullptr);
  CHECK(files.open_executable() != nullptr);
  const auto before = std::filesystem::current_path();
  std::filesystem::current_path(folder);
  CHECK(content_of(files.open_path("./a.so")) == "content");
  std::filesystem::current_path(before);
  std::filesystem::remove_all(folder);
}

TEST_CASE("a file that is mapped is found whatever its name, and no name of the process's own is taken for ours") {
  ProcessFiles files(::getpid());
  const int memory = ::memfd_create("library", MFD_CLOEXEC);
  REQUIRE(memory >= 0);
  REQUIRE(::write(memory, "mapped", 6) == 6);
  void* const at = ::mmap(nullptr, 4096, PROT_READ, MAP_PRIVATE, memory, 0);
  REQUIRE(at != MAP_FAILED);
  CHECK(files.open_path("/proc/self/fd/" + std::to_string(memory)) == nullptr);
  CHECK(files.open_path("/dev/fd/" + std::to_string(memory)) == nullptr);
  ::close(memory);
  if (::geteuid() == 0) CHECK(content_of(files.open_mapped(reinterpret_cast<uint64_t>(at) + 100)) == "mapped");
  CHECK(files.open_mapped(8) == nullptr);
  // Another file in its place, and one that comes later.
  const int other = ::memfd_create("other", MFD_CLOEXEC);
  REQUIRE(::write(other, "another", 7) == 7);
  REQUIRE(::mmap(at, 4096, PROT_READ, MAP_PRIVATE | MAP_FIXED, other, 0) == at);
  void* const later = ::mmap(nullptr, 3 * 4096, PROT_READ, MAP_PRIVATE, other, 0);
  REQUIRE(later != MAP_FAILED);
  ::close(other);
  if (::geteuid() == 0) {
    CHECK(content_of(files.open_mapped(reinterpret_cast<uint64_t>(at))) == "another");
    CHECK(content_of(files.open_mapped(reinterpret_cast<uint64_t>(later))) == "another");
    ::munmap(static_cast<char*>(later) + 4096, 4096);  // its bounds are others
    CHECK(content_of(files.open_mapped(reinterpret_cast<uint64_t>(later))) == "another");
    CHECK(files.open_mapped(reinterpret_cast<uint64_t>(later) + 4096) == nullptr);
  }
  ::munmap(later, 3 * 4096);
  ::munmap(at, 4096);
}

TEST_CASE("the map of compiled code is the process's own") {
  ProcessFiles files(::getpid());
  const std::string path = "/tmp/perf-" + std::to_string(::getpid()) + ".map";
  CHECK(files.open_jit_map() == nullptr);
  std::ofstream(path) << "1000 10 f";
  CHECK(content_of(files.open_jit_map()) == "1000 10 f");
  std::filesystem::remove(path);
  std::filesystem::create_symlink("/etc/passwd", path);
  CHECK(files.open_jit_map() == nullptr);
  std::filesystem::remove(path);
}

TEST_CASE("threads and memory of a process") {
  ProcessFiles files(::getpid());
  const auto id = static_cast<uint32_t>(::syscall(SYS_gettid));
  CHECK(files.resident_bytes() > 100'000);
  CHECK_FALSE(files.is_thread_gone(id));
  CHECK(files.is_thread_gone(0x7fffffff));
  CHECK(files.thread_name(id) == "unit_collect");
  CHECK(files.thread_name(0x7fffffff).empty());
}

TEST_CASE("of a process that is not there nothing is known") {
  ProcessFiles files(0x7fffffff);
  CHECK(files.resident_bytes() == 0);
  CHECK_FALSE(files.is_thread_gone(1));
  CHECK(files.thread_name(1).empty());
  CHECK(files.open_executable() == nullptr);
  CHECK(files.open_path("/bin/sh") == nullptr);
}

}  // namespace
}  // namespace heapprof::cli
