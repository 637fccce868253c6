// tests/unit/agent_unwind/rule_cache_test.cc: the rules that threads share.
#include "agent/unwind/rule_cache.h"

#include "agent/process/generation.h"

#include <catch2/catch.hpp>

#include <atomic>
#include <mutex>
#include <thread>
#include <vector>

namespace heapprof::agent::test {

namespace {

// A rule that can be told from every other by its content.
UnwindRule rule_for(uint64_t pc_avma, uint32_t generation) {
  UnwindRule rule{};
  rule.pc_avma = pc_avma;
  rule.kind = generation % 2 == 0 ? RuleKind::kCfaFromSp : RuleKind::kCfaFromBp;
  rule.cfa_offset_bytes = static_cast<int32_t>(8 * (pc_avma % 1000003 + generation) % kMaxCfaOffsetBytes);
  rule.saved = static_cast<int16_t>(pc_avma % 100) - 50;
  return rule;
}

bool is_equal(const UnwindRule& a, const UnwindRule& b) {
  return a.pc_avma == b.pc_avma && a.kind == b.kind && a.cfa_offset_bytes == b.cfa_offset_bytes && a.saved == b.saved;
}

}  // namespace

TEST_CASE("a rule comes back as it was stored", "[rule_cache]") {
  REQUIRE(init_rule_cache());
  const uint32_t generation = end_what_is_known(kEverything);
  UnwindRule rule{};
  rule.pc_avma = 0x7fff12345678;
  for (const RuleKind kind : {RuleKind::kEndOfStack, RuleKind::kCfaFromSp, RuleKind::kCfaFromBp, RuleKind::kRealigned,
                              RuleKind::kSpecial, RuleKind::kNoUnwindInfo}) {
    for (const int64_t cfa_bytes : {int64_t{0}, int64_t{8}, int64_t{-8}, kMaxCfaOffsetBytes, -kMaxCfaOffsetBytes}) {
      for (const int64_t bp_bytes : {int64_t{0}, int64_t{-16}, 8 * kMaxSaved, -8 * kMaxSaved}) {
        rule.kind = kind;
        rule.cfa_offset_bytes = static_cast<int32_t>(cfa_bytes);
        rule.saved = static_cast<int16_t>(bp_bytes / 8);
        ++rule.pc_avma;
        share_rule(rule, generation);
        UnwindRule found{};
        REQUIRE(find_shared_rule(rule.pc_avma, generation, &found));
        CHECK(is_equal(found, rule));
        CHECK_FALSE(find_shared_rule(rule.pc_avma, generation + 1, &found));
        CHECK_FALSE(find_shared_rule(rule.pc_avma, generation - 1, &found));
      }
    }
  }
}

TEST_CASE("a rule holds until its address ends", "[rule_cache]") {
  REQUIRE(init_rule_cache());
  const uint32_t generation = end_what_is_known(kEverything);
  const UnwindRule rule = rule_for(0x501001, generation);
  const UnwindRule other = rule_for(0x601001, generation);
  share_rule(rule, generation);
  share_rule(other, generation);
  UnwindRule found{};
  end_what_is_known({0x600000, 0x602000});
  CHECK(find_shared_rule(rule.pc_avma, current_generation(), &found));
  CHECK(is_equal(found, rule));
  CHECK_FALSE(find_shared_rule(other.pc_avma, current_generation(), &found));
  CHECK(find_shared_rule(other.pc_avma, generation, &found));  // for a thread that has not noticed yet
  while (current_generation() - generation < kKeptEndings) end_what_is_known({0x600000, 0x602000});
  CHECK(find_shared_rule(rule.pc_avma, current_generation(), &found));
  end_what_is_known({0x600000, 0x602000});  // one more than anybody remembers
  CHECK_FALSE(find_shared_rule(rule.pc_avma, current_generation(), &found));
  share_rule(rule_for(0x501001, current_generation()), current_generation());
  CHECK(find_shared_rule(rule.pc_avma, current_generation(), &found));
  end_what_is_known(kEverything);  // a child
  CHECK_FALSE(find_shared_rule(rule.pc_avma, current_generation(), &found));
}

TEST_CASE("a slot is taken over by a later generation, never by an earlier one", "[rule_cache]") {
  REQUIRE(init_rule_cache());
  const uint64_t pc_avma = 0x401000;
  UnwindRule found{};
  for (const uint32_t generation :
       {5u, 6u, 0x07000000u, 0x0e000000u, 0x0ffffff0u, 0x10000010u}) {  // 28 bits wrap around
    share_rule(rule_for(pc_avma, generation), generation);
    REQUIRE(find_shared_rule(pc_avma, generation, &found));
    CHECK(is_equal(found, rule_for(pc_avma, generation)));
    share_rule(rule_for(pc_avma, generation - 3), generation - 3);
    CHECK(find_shared_rule(pc_avma, generation, &found));
  }
}

TEST_CASE("a full cache loses nothing that it holds", "[rule_cache]") {
  REQUIRE(init_rule_cache());
  constexpr uint64_t kCount = 200000;  // more than there are slots
  uint64_t held = 0;
  uint64_t wrong = 0;
  for (uint64_t i = 0; i < kCount; ++i) share_rule(rule_for(0x400000 + i * 5, 3), 3);
  for (uint64_t i = 0; i < kCount; ++i) {
    UnwindRule found{};
    if (!find_shared_rule(0x400000 + i * 5, 3, &found)) continue;
    ++held;
    wrong += !is_equal(found, rule_for(0x400000 + i * 5, 3));
  }
  CHECK(wrong == 0);
  CHECK(held > 120000);
  CHECK(held <= 131072);
}

TEST_CASE("threads never see one program counter with another's rule", "[rule_cache]") {
  REQUIRE(init_rule_cache());
  constexpr Ending kTheirs{0x3ff000, 0x500000};
  end_what_is_known(kTheirs);
  std::mutex ending;
  std::atomic<uint64_t> hits{0};
  std::atomic<uint64_t> torn{0};
  const auto work = [&](uint64_t seed) {
    for (uint32_t i = 0; i < 400000; ++i) {
      seed = seed * 6364136223846793005 + 1442695040888963407;
      const uint64_t pc_avma = 0x400000 + (seed >> 40) % 30000 * 3;
      // Threads lag behind: an event of an older generation may still be under way.
      const uint32_t mine = current_generation() - (seed >> 33) % 2;
      UnwindRule found{};
      if (find_shared_rule(pc_avma, mine, &found)) {
        hits.fetch_add(1, std::memory_order_relaxed);
        if (!is_equal(found, rule_for(pc_avma, mine))) torn.fetch_add(1, std::memory_order_relaxed);
      } else {
        share_rule(rule_for(pc_avma, mine), mine);
      }
      if (i % 5000 != 0) continue;
      const std::lock_guard locked(ending);
      end_what_is_known(kTheirs);
    }
  };
  std::vector<std::thread> threads;
  for (uint64_t i = 0; i < 4; ++i) threads.emplace_back(work, i * 77 + 1);
  for (std::thread& thread : threads) thread.join();
  CHECK(hits.load() > 1000);
  CHECK(torn.load() == 0);
}

}  // namespace heapprof::agent::test
