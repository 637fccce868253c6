// agent/unwind/rule_cache.h: the unwind rules of the whole process, shared by all its threads.
//
// Guarantees
//  - A rule that find_shared_rule returns was stored for exactly this program counter, at this generation (age), or at
//    an earlier one since which nothing about its address was invalidated (agent/process/age.h). A reader takes no lock
//    and may be interrupted anywhere. So may a writer, which costs one slot at worst.
//    (tests/unit/agent_unwind/rule_cache_test.cc attacks it with threads.)
// Not provided: room for every rule. 131,072 rules are kept; a rule without room is made again when it is needed.
// Context:  slow path of a hook.
// Cost:     one or two cache lines.
#pragma once

#include "agent/unwind/unwind_rule.h"

#include <cstdint>

namespace heapprof::agent {

// Maps the cache, once. False: no memory; rules are then not shared.
bool init_rule_cache();
bool find_shared_rule(uint64_t pc_avma, uint32_t age, UnwindRule* rule);
void share_rule(const UnwindRule& rule, uint32_t age);

}  // namespace heapprof::agent
