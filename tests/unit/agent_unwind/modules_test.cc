// tests/unit/agent_unwind/modules_test.cc: what the collector is told of loaded objects, and rules that unloading
// voids.
#include "agent/process/modules.h"

#include "tests/unit/agent_unwind/probe.h"

#include <catch2/catch.hpp>
#include <dlfcn.h>
#include <link.h>

#include <cstring>

extern "C" void early_anchor();

namespace heapprof::agent::test {

// The stack as it was in a constructor, before main.
std::vector<uint64_t>* g_early_stack = nullptr;
uint32_t g_early_truncation = 0;

namespace {

using SwapCall = void (*)(void (*)());

struct Loaded {
  explicit Loaded(const char* file) : library(dlopen((std::string(SHAPES_DIR "/") + file).c_str(), RTLD_NOW)) {
    REQUIRE(library != nullptr);
    call = reinterpret_cast<SwapCall>(dlsym(library, "swap_call"));
    REQUIRE(call != nullptr);
  }
  void* library;
  SwapCall call;
};

size_t count_announced(const std::string& end_of_path) {
  size_t count = 0;
  for (const Announced& entry : announced()) count += entry.path.ends_with(end_of_path);
  return count;
}

Announced last_announced(const std::string& end_of_path) {
  Announced last;
  bool found = false;
  for (const Announced& entry : announced()) {
    if (!entry.path.ends_with(end_of_path)) continue;
    last = entry;
    found = true;
  }
  REQUIRE(found);
  return last;
}

// The same questions, answered by dl_iterate_phdr.
struct Expected {
  const char* end_of_path = nullptr;
  uint64_t bias = 0;
  uint64_t start_avma = 0;
  uint64_t end_avma = 0;
  std::string build_id;
};

int describe(dl_phdr_info* info, size_t, void* data) {
  Expected& expected = *static_cast<Expected*>(data);
  if (!std::string(info->dlpi_name).ends_with(expected.end_of_path)) return 0;
  expected.bias = info->dlpi_addr;
  expected.start_avma = ~uint64_t{0};
  for (int i = 0; i < info->dlpi_phnum; ++i) {
    const ElfW(Phdr)& part = info->dlpi_phdr[i];
    const uint64_t at = info->dlpi_addr + part.p_vaddr;
    if (part.p_type == PT_LOAD) {
      expected.start_avma = std::min<uint64_t>(expected.start_avma, at & ~uint64_t{4095});
      expected.end_avma = std::max<uint64_t>(expected.end_avma, at + part.p_memsz);
    }
    if (part.p_type == PT_NOTE && expected.build_id.empty()) {
      const auto* note = reinterpret_cast<const ElfW(Nhdr)*>(at);
      if (note->n_type == NT_GNU_BUILD_ID)
        expected.build_id.assign(reinterpret_cast<const char*>(note + 1) + 4, note->n_descsz);
    }
  }
  return 1;
}

// Loads A, B, A, B … and probes in each. bump: tell the unwinder of every unload.
uint64_t mismatches_after_swapping(bool bump, bool* same_place) {
  reset_tally();
  *same_place = true;
  SwapCall before = nullptr;
  for (int i = 0; i < 40; ++i) {
    const Loaded loaded(i % 2 == 0 ? "swap_small.so" : "swap_large.so");
    *same_place = *same_place && (before == nullptr || before == loaded.call);
    before = loaded.call;
    loaded.call(probe);
    if (bump) ++g_test_generation;
    dlclose(loaded.library);
    if (bump) ++g_test_generation;
  }
  ++g_test_generation;
  return tally().mismatched;
}

}  // namespace

TEST_CASE("an object is announced with its place, path and build id", "[modules]") {
  const bool list_only = GENERATE(false, true);
  g_use_link_map_only = list_only;
  REQUIRE(init_unwinder());
  forget_announced();
  int values[] = {3, 1, 2};
  qsort(values, 3, sizeof values[0], [](const void*, const void*) {
    capture_here(nullptr);
    return 0;
  });
  g_use_link_map_only = false;
  Expected expected{};
  expected.end_of_path = "libc.so.6";
  dl_iterate_phdr(describe, &expected);
  CHECK(count_announced("libc.so.6") == 1);
  const Announced libc = last_announced("libc.so.6");
  CHECK(libc.load_bias == expected.bias);
  CHECK(libc.start_avma == expected.start_avma);
  CHECK(libc.end_avma >= expected.end_avma);
  CHECK(libc.end_avma - expected.end_avma < 4096);
  CHECK(libc.build_id == expected.build_id);
  CHECK(libc.build_id.size() == 20);
  CHECK(count_announced("") == announced().size());
  bool has_main_program = false;
  for (const Announced& entry : announced()) has_main_program |= entry.path.empty();
  CHECK(has_main_program);
}

TEST_CASE("rules of an unloaded library are not used for the next one at its place", "[modules]") {
  bool same_place = false;
  CHECK(mismatches_after_swapping(true, &same_place) == 0);
  if (!same_place) WARN("the loader gave every library a place of its own: nothing was tested");
  // Without the generation the test would notice.
  if (same_place) CHECK(mismatches_after_swapping(false, &same_place) > 0);
}

TEST_CASE("a library that comes back unchanged is announced once", "[modules]") {
  REQUIRE(init_unwinder());
  forget_announced();
  const auto load_and_probe = [](const char* file) {
    const Loaded loaded(file);
    loaded.call(probe);
    ++g_test_generation;
    dlclose(loaded.library);
    ++g_test_generation;
    return loaded.call;
  };
  const SwapCall first = load_and_probe("swap_small.so");
  const SwapCall again = load_and_probe("swap_small.so");
  CHECK(count_announced("swap_small.so") == (first == again ? 1 : 2));
  const size_t before = count_announced("swap_small.so");
  const SwapCall other = load_and_probe("swap_large.so");
  CHECK(count_announced("swap_large.so") == 1);
  const SwapCall last = load_and_probe("swap_small.so");
  if (other == last) CHECK(count_announced("swap_small.so") == before + 1);  // the other was there in between
}

TEST_CASE("a forked child announces every object again", "[modules]") {
  REQUIRE(init_unwinder());
  forget_announced();
  capture_here(nullptr);
  const size_t once = announced().size();
  CHECK(once > 0);
  capture_here(nullptr);
  CHECK(announced().size() == once);
  REQUIRE(init_unwinder());  // what the child does
  capture_here(nullptr);
  CHECK(announced().size() >= 2 * once);
}

TEST_CASE("the stack of a constructor ends in the loader, whole", "[modules]") {
  early_anchor();  // keeps the library linked
  REQUIRE(g_early_stack != nullptr);
  CHECK(g_early_stack->size() >= 4);
  CHECK(g_early_truncation == 0);
}

}  // namespace heapprof::agent::test

extern "C" [[gnu::visibility("default")]] void probe_early() {
  using namespace heapprof::agent;
  init_unwinder();
  test::g_early_stack = new std::vector<uint64_t>(test::capture_here(&test::g_early_truncation));
}
