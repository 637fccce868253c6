// tests/unit/agent_unwind/modules_test.cc: what the collector is told of loaded objects, and rules that unloading
// voids.
#include "agent/process/modules.h"

#include "agent/process/generation.h"
#include "agent/process/loaded_object.h"
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

// Loads A, B, A, B … and probes in each. notes: tell the unwinder of every unload.
uint64_t mismatches_after_swapping(bool notes, bool* same_place) {
  reset_tally();
  *same_place = true;
  SwapCall before = nullptr;
  for (int i = 0; i < 40; ++i) {
    const Loaded loaded(i % 2 == 0 ? "swap_small.so" : "swap_large.so");
    *same_place = *same_place && (before == nullptr || before == loaded.call);
    before = loaded.call;
    loaded.call(probe);
    dlclose(loaded.library);
    if (notes) note_unload();
  }
  note_unload();
  end_what_is_known(kEverything);
  return tally().mismatched;
}

}  // namespace

TEST_CASE("an object is announced with its place, path and build id", "[modules]") {
  const bool list_only = GENERATE(false, true);
  g_use_link_map_only = list_only;
  end_what_is_known(kEverything);
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
  // Without that the test would notice.
  if (same_place) CHECK(mismatches_after_swapping(false, &same_place) > 0);
}

TEST_CASE("a library that comes back unchanged is announced once", "[modules]") {
  end_what_is_known(kEverything);
  REQUIRE(init_unwinder());
  forget_announced();
  const auto load_and_probe = [](const char* file) {
    const Loaded loaded(file);
    loaded.call(probe);
    dlclose(loaded.library);
    note_unload();
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

TEST_CASE("an unload ends what is known of that library alone", "[modules]") {
  init_find_object();
  reset_tally();
  const Loaded stays("swap_large.so");
  uint32_t generation = 0;
  {
    const Loaded goes("swap_small.so");
    stays.call(probe);
    goes.call(probe);
    generation = current_generation();
    dlclose(goes.library);
  }
  note_unload();
  CHECK(current_generation() == generation + 1);  // of all that is loaded one object went
  note_unload();
  CHECK(current_generation() == generation + 1);
  const auto holds = [&](const void* at) {
    bool is_known = true;
    for_each_ending(generation, current_generation(), [&](const Ending& ending) {
      is_known = is_known && !ending.holds_return(reinterpret_cast<uint64_t>(at) + 1);
    });
    return is_known;
  };
  CHECK(holds(reinterpret_cast<const void*>(stays.call)));
  CHECK(holds(reinterpret_cast<const void*>(&early_anchor)));
  dlclose(stays.library);
  note_unload();
  CHECK(current_generation() == generation + 2);
}

TEST_CASE("frames of a library that is gone are not kept for the next one at its place", "[modules]") {
  init_find_object();
  reset_tally();
  SwapCall before = nullptr;
  bool same_place = false;
  for (int i = 0; i < 20; ++i) {  // the same stacks but for what the library is
    const Loaded loaded(i % 2 == 0 ? "swap_small.so" : "swap_same.so");
    same_place = same_place || before == loaded.call;
    before = loaded.call;
    const uint64_t sent = tally().frames_sent;
    loaded.call(probe);
    if (same_place) CHECK(tally().frames_sent - sent > 0);
    dlclose(loaded.library);
    note_unload();
  }
  if (!same_place) WARN("the loader gave every library a place of its own: nothing was tested");
}

TEST_CASE("a forked child announces every object again", "[modules]") {
  REQUIRE(init_unwinder());
  forget_announced();
  capture_here(nullptr);
  const size_t once = announced().size();
  CHECK(once > 0);
  capture_here(nullptr);
  CHECK(announced().size() == once);
  end_what_is_known(kEverything);  // what the child does
  REQUIRE(init_unwinder());
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
