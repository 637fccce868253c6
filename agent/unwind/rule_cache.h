// agent/unwind/rule_cache.h: the unwind rules of the whole process, for all of its threads.
//
// Guarantees
//  - A rule that find_shared_rule gives is one that was stored for exactly this program counter in this generation. A
//    reader takes no lock and may be interrupted anywhere. So may a writer, which costs one slot at worst.
//    (tests/unit/agent_unwind/rule_cache_test.cc attacks it with threads.)
//  - A new generation voids every older rule without touching it.
// Not provided: room for every rule. 131,072 rules are kept; a rule without room is made anew when it is needed.
// Context:  slow path of a hook.
// Cost:     one or two cache lines.
#pragma once

#include "agent/unwind/unwind_rule.h"

#include <cstdint>

namespace heapprof::agent {

// Maps the cache, or empties it where it is mapped (a forked child). False: no memory; rules are then not shared.
bool init_rule_cache();
bool find_shared_rule(uint64_t pc_avma, uint32_t generation, UnwindRule* rule);
void share_rule(const UnwindRule& rule, uint32_t generation);

}  // namespace heapprof::agent
