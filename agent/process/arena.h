// agent/process/arena.h: the agent's view of the memory that it shares with the collector.
//
// Guarantees
//  - No descriptor is kept: rings are mapped one by one as they are claimed, by mremap of pages that are mapped
//    already.
//  - A module's entry is published before announce_module returns.
//
// Context:  start-up and slow paths only; callers hold the agent's lock (agent/process/lock.h) where a line says so.
// Order:    (C) Control::rings_claimed is release-stored after the ring's header is filled in.
//           (F) Note::ready is release-stored after the rest of the note.
//           (D) Control::module_bytes is release-stored after the entry is written.
//           (G) Control::modules_read is acquire-loaded before the agent overwrites what the collector has read.
#pragma once

#include "shared/kernels.h"
#include "shared/sampling.h"
#include "shared/scopes.h"

#include <stdint.h>

// Variables are accessed directly, not through the GOT.
#pragma GCC visibility push(hidden)

namespace heapprof::agent {

// The control page of the arena; nullptr until the arena is mapped.
extern wire::Control* g_control;

// The sampling settings, at an address that a hook knows without reading a pointer. They are all 0 until an arena is
// mapped, and again after it is left: then everything is recorded.
extern wire::SamplingPage g_sampling;

// Maps control page, module table, ring headers and the first ring. Returns false if it cannot.
bool map_arena(int fd);
// True if there is address space for another arena while the previous one is still mapped.
bool has_room_for_arena(int fd);
// A forked child leaves its parent's arena: zero pages of its own replace it. So, if a signal handler interrupted an
// event and forks, the event can end in the child without reaching the parent's rings. g_control stays a valid address.
void forget_arena();

// The same, and gives address space back. pre: no event is in progress, and none begins before the next map_arena.
void release_arena();

// The plan that came with the process's first arena; nullptr: there was none. It stays valid, in forked children, too.
const wire::InnerPlan* inner_plan();

// pre: an arena is mapped.
wire::Name* names();
wire::KernelName* kernel_names();
// Maps the part of the arena in which code objects of Python are reported. False: there is no address space. pre: the
// lock is held.
bool map_codes();
// Arrays of wire::kMaxCodes words and wire::kCodeTextBytes bytes. pre: that part of the arena is mapped.
uint64_t* code_index();
unsigned char* code_texts();
// The text of the answer to a question: wire::kTextBytes bytes.
const char* question_text(uint32_t question);
wire::RingHeader* ring_header(uint32_t ring);
// The ring's data, mapped at its first use. nullptr: there is no address space. pre: every ring with a lower number is
// mapped; the lock is held.
unsigned char* map_ring(uint32_t ring);

// Appends to the module table: entry.entry_bytes, path_bytes and build_id_bytes are filled in here. False if the table
// is full because the collector makes no progress; that is counted. pre: the module lock is held
// (agent/process/modules.cc).
bool announce_module(wire::ModuleEntry entry, const char* path, const uint8_t* build_id, uint32_t build_id_bytes);

// Reports to the collector what a record cannot say (wire::Note). is_own: the note also counts in Note::own. nullptr:
// there is no arena, or no room.
// Context: anywhere, vfork and fork children included.
wire::Note* add_note(wire::NoteKind kind, uint32_t reason, const char* text, bool is_own);
// Takes back what add_note counted, because it did not happen after all. note: may be nullptr.
void withdraw_note(wire::Note* note, bool is_own);

}  // namespace heapprof::agent

#pragma GCC visibility pop
