// agent/unwind/rule_cache.h: the unwind rules of the whole process, shared by all its threads.
//
// Guarantees
//  - A rule that find_shared_rule returns was stored for exactly this program counter: at this generation, or at
//    an earlier one, and nothing about its address was invalidated since (agent/process/generation.h). A reader takes
//    no lock. Readers and writers may be interrupted anywhere; an interrupted writer costs one slot at worst.
//    (tests/unit/agent_unwind/rule_cache_test.cc attacks it with threads.)
// Not provided: room for every rule. 131,072 rules are kept. If a rule finds no room, it is made again when it is
//               needed.
// Context:  slow path of a hook.
// Cost:     one or two cache lines.
#pragma once

#include "agent/unwind/unwind_rule.h"

#include <cstdint>

namespace heapprof::agent {

// Maps the cache, once. False: no memory; rules are then not shared.
bool init_rule_cache();
bool find_shared_rule(uint64_t pc_avma, uint32_t generation, UnwindRule* rule);
void share_rule(const UnwindRule& rule, uint32_t generation);

}  // namespace heapprof::agent
