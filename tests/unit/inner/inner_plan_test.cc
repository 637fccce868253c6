// tests/unit/inner/inner_plan_test.cc: plans: which functions are found, what belongs to the allocator, and files that
// are hostile.
#include "cli/inner/inner_plan.h"

#include "cli/inner/function_names.h"
#include "shared/inner.h"
#include "tests/unit/inner/elf_maker.h"

#include <catch2/catch.hpp>

#include <random>

using namespace heapprof;
using namespace heapprof::cli;

namespace {

const std::vector<int> kBody = {0x55, 0x48, 0x89, 0xe5, 0x53, 0x90, 0x90, 0x5b, 0x5d, 0xc3};

InnerPlanning plan_of(const ElfMaker& maker) {
  const MadeFile file(maker.bytes());
  return plan_inner_hooks(file.fd(), -1);
}

struct Decoded {
  wire::InnerPlan head;
  std::vector<wire::InnerFunction> functions;
  std::vector<wire::InnerRange> ranges;
};
Decoded decoded(const InnerPlanning& planning) {
  Decoded plan{};
  REQUIRE(planning.plan.size() >= sizeof plan.head);
  std::memcpy(&plan.head, planning.plan.data(), sizeof plan.head);
  plan.functions.resize(plan.head.function_count);
  plan.ranges.resize(plan.head.range_count);
  const size_t function_bytes = plan.functions.size() * sizeof(wire::InnerFunction);
  const size_t range_bytes = plan.ranges.size() * sizeof(wire::InnerRange);
  REQUIRE(planning.plan.size() == sizeof plan.head + function_bytes + range_bytes);
  std::memcpy(plan.functions.data(), planning.plan.data() + sizeof plan.head, function_bytes);
  std::memcpy(plan.ranges.data(), planning.plan.data() + sizeof plan.head + function_bytes, range_bytes);
  return plan;
}

// jmp or call to an address
std::vector<int> branch(int opcode, uint64_t from_svma, uint64_t to_svma) {
  const auto distance = static_cast<uint32_t>(to_svma - (from_svma + 5));
  std::vector<int> bytes = {opcode};
  for (int i = 0; i < 4; ++i) bytes.push_back(static_cast<unsigned char>(distance >> 8 * i));
  return bytes;
}

}  // namespace

TEST_CASE("malloc and free of an executable are planned, with operators and further names") {
  ElfMaker maker;
  for (const char* name : {"malloc", "free", "calloc", "realloc", "_Znwm", "_ZdlPvm", "mallocx", "main"})
    maker.add(name, kBody);
  const InnerPlanning planning = plan_of(maker);
  CHECK(planning.refusals.empty());
  REQUIRE(planning.allocators.size() == 1);
  CHECK(planning.allocators[0].name == "jemalloc");
  CHECK(planning.allocators[0].functions == 7);
  const Decoded plan = decoded(planning);
  REQUIRE(plan.functions.size() == 7);
  CHECK(plan.functions[0].what.kind == wire::AllocatorKind::Allocate);
  CHECK(plan.functions[1].what.kind == wire::AllocatorKind::Release);
  CHECK(plan.functions[2].what.index_of(wire::AllocatorRole::Count) == 0);
  CHECK(plan.functions[3].what.kind == wire::AllocatorKind::Reallocate);
  CHECK(plan.head.base_svma == ElfMaker::kCodeSvma);
}

TEST_CASE("a program's own operator new, and half an allocator, are left alone") {
  ElfMaker operators;
  for (const char* name : {"_Znwm", "_ZdlPv", "main"}) operators.add(name, kBody);
  CHECK(plan_of(operators).allocators.empty());
  ElfMaker half;
  for (const char* name : {"malloc", "je_malloc", "mi_free", "main"}) half.add(name, kBody);
  CHECK(plan_of(half).allocators.empty());
}

TEST_CASE("prefixed names are allocators of their own, unless they are malloc's own functions") {
  ElfMaker maker;
  for (const char* name : {"_rjem_malloc", "_rjem_free", "_rjem_sdallocx", "tc_malloc", "tc_free"})
    maker.add(name, kBody);
  const InnerPlanning two = plan_of(maker);
  REQUIRE(two.allocators.size() == 2);
  CHECK(two.allocators[0].name == "jemalloc");
  CHECK(two.allocators[0].functions == 3);
  CHECK(two.allocators[1].name == "tcmalloc");
  ElfMaker same;
  const uint64_t malloc_svma = same.add("malloc", kBody);
  const uint64_t free_svma = same.add("free", kBody);
  same.add_name("mi_malloc", malloc_svma, kBody.size());
  same.add_name("mi_free", free_svma, kBody.size());
  same.add("mi_heap_malloc", kBody);
  const InnerPlanning one = plan_of(same);
  REQUIRE(one.allocators.size() == 1);
  CHECK(one.allocators[0].name == "mimalloc");
  CHECK(one.allocators[0].functions == 3);
}

TEST_CASE("what an allocator's functions call is its own code, and what calls them is not") {
  ElfMaker maker;
  const uint64_t deep_svma = maker.add("deep", kBody);
  std::vector<int> helper = kBody;
  const uint64_t helper_svma = maker.next_svma();
  for (const int byte : branch(0xe8, helper_svma + helper.size(), deep_svma)) helper.push_back(byte);
  maker.add("helper", helper);
  std::vector<int> body = kBody;
  const uint64_t malloc_svma = maker.next_svma();
  for (const int byte : branch(0xe9, malloc_svma + body.size(), helper_svma)) body.push_back(byte);
  maker.add("malloc", body);
  maker.add("free", kBody);
  const uint64_t user_svma = maker.next_svma();
  maker.add("user", branch(0xe8, user_svma, malloc_svma));
  const Decoded plan = decoded(plan_of(maker));
  const auto is_own = [&](uint64_t svma) {
    for (const wire::InnerRange& range : plan.ranges) {
      if (svma - plan.head.base_svma >= range.start && svma - plan.head.base_svma < range.end) return true;
    }
    return false;
  };
  CHECK(is_own(deep_svma + 3));
  CHECK(is_own(helper_svma + 3));
  CHECK(is_own(malloc_svma));
  CHECK_FALSE(is_own(user_svma + 5));
}

TEST_CASE("one function that cannot be hooked keeps all of them from it, and is named") {
  ElfMaker maker;
  maker.add("malloc", kBody);
  maker.add("free", {0x53, 0xff, 0xd0, 0x5b, 0xc3});  // push rbx; call rax; pop rbx
  maker.add("calloc", kBody, STT_GNU_IFUNC);
  const InnerPlanning planning = plan_of(maker);
  CHECK(planning.plan.empty());
  CHECK(planning.allocators.size() == 1);
  CHECK(planning.refusals == std::vector<std::string>{"free calls another function in its first bytes",
                                                      "calloc is chosen when the program starts"});
}

TEST_CASE("a compiler's copy that ends blocks keeps all from being hooked, if more than the allocator calls it") {
  const auto plan_with = [](const char* caller) {
    ElfMaker maker;
    const uint64_t part_svma = maker.add("free.part.0", kBody);
    const uint64_t free_svma = maker.next_svma();
    std::vector<int> body = kBody;
    for (const int byte : branch(0xe9, free_svma + body.size(), part_svma)) body.push_back(byte);
    maker.add("free", body);
    maker.add("malloc", kBody);
    const uint64_t caller_svma = maker.next_svma();
    maker.add(caller, branch(0xe8, caller_svma, part_svma));
    return plan_of(maker);
  };
  CHECK(plan_with("realloc").refusals.empty());
  CHECK(plan_with("main").refusals ==
        std::vector<std::string>{"free.part.0 is a copy that the compiler made, and is called past the function"});
  // What one gives out is not seen; the rest is.
  ElfMaker maker;
  const uint64_t copy_svma = maker.add("malloc.constprop.0", kBody);
  for (const char* name : {"malloc", "free"}) maker.add(name, kBody);
  const uint64_t caller_svma = maker.next_svma();
  maker.add("main", branch(0xe8, caller_svma, copy_svma));
  const InnerPlanning planning = plan_of(maker);
  CHECK_FALSE(planning.plan.empty());
  CHECK(planning.unseen == std::vector<std::string>{
                               "malloc.constprop.0 is a copy that the compiler made, and is called past the function"});
}

TEST_CASE("a plan that takes too long is none, and that is said") {
  ElfMaker maker;
  for (const char* name : {"malloc", "free"}) maker.add(name, kBody);
  const MadeFile file(maker.bytes());
  const InnerPlanning planning = plan_inner_hooks(file.fd(), -1, 0);
  CHECK(planning.plan.empty());
  CHECK(planning.allocators.size() == 1);
  CHECK_FALSE(planning.refusals.empty());
}

TEST_CASE("tens of thousands of parts that are seldom executed are looked up, and not searched one by one") {
  ElfMaker maker;
  maker.add("free", kBody);
  constexpr int kJumps = 20'000;
  std::vector<int> body = kBody;
  for (int i = 0; i < kJumps; ++i) {
    const uint64_t from_svma = maker.next_svma() + body.size();
    for (const int byte : branch(0xe9, from_svma, from_svma + 5)) body.push_back(byte);  // to no function's start
  }
  maker.add("malloc", body);
  for (int i = 0; i < kJumps; ++i) maker.add("f" + std::to_string(i) + ".cold", {0x90, 0xc3});
  CHECK(plan_of(maker).refusals.empty());  // within the time that a plan may take
}

TEST_CASE("what no loader starts is left alone") {
  ElfMaker maker;
  for (const char* name : {"malloc", "free"}) maker.add(name, kBody);
  std::string bytes = maker.bytes();
  bytes[sizeof(Elf64_Ehdr) + sizeof(Elf64_Phdr)] = PT_NULL;  // was PT_INTERP
  const MadeFile file(bytes);
  CHECK(plan_inner_hooks(file.fd(), -1).allocators.empty());
}

TEST_CASE("names of allocators") {
  CHECK(named_function("_rjem_rallocx")->what.kind == wire::AllocatorKind::Reallocate);
  CHECK(named_function("_rjem_rallocx")->group == "_rjem_");
  CHECK(named_function("__je_malloc")->group == "__je_");
  CHECK_FALSE(named_function("_rjem_je_arena_init"));
  CHECK_FALSE(named_function("malloc_stats"));
  CHECK_FALSE(named_function(""));
  CHECK(named_function("posix_memalign")->is_family);
}

TEST_CASE("damaged files give no plan, or a wrong one, and no crash") {
  ElfMaker maker;
  for (const char* name : {"malloc", "free", "calloc", "_Znwm", "je_malloc", "je_free"}) maker.add(name, kBody);
  const std::string whole = maker.bytes();
  std::minstd_rand random(4711);
  for (int round = 0; round < 3000; ++round) {
    std::string damaged = whole;
    // Headers and tables matter more than the zeros between them.
    for (int i = 0; i < 1 + round % 8; ++i) {
      const size_t near_end = damaged.size() - 1 - random() % 900;
      const size_t place = random() % 2 == 0 ? random() % 0x90 : near_end;
      damaged[place] = static_cast<char>(random() % 3 == 0 ? 0xff : random());
    }
    if (round % 5 == 0) damaged.resize(random() % damaged.size());
    const MadeFile file(damaged);
    const InnerPlanning planning = plan_inner_hooks(file.fd(), -1);
    CHECK(planning.plan.size() <= wire::kInnerPlanBytes);
  }
}
