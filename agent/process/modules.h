// agent/process/modules.h: which loaded object an address belongs to, and where its unwind table is; announces objects
// to the collector.
//
// Guarantees
//  - A module's entry is in the arena's table before find_module returns it, so before any record with its addresses.
//  - If an object comes back unchanged at its old address, it adds no entry, unless another one was seen there in
//    between.
//  - An unloaded object is not found, and what is known of its addresses is invalidated (agent/process/generation.h).
//  - No lock that a hook's caller could hold, no dl_iterate_phdr, no allocation.
//
// Context:  the slow path of a hook (first sight of a program counter). A new object blocks signals and takes
//           ForkPage::module_lock; known ones are found without a lock.
// Order:    (D) the entry is written before Control::module_bytes is release-stored; the collector acquire-loads it.
// Cost:     0.1-0.5 µs; a new object about 2 µs.
#pragma once

#include "agent/process/generation.h"

#include <cstdint>

namespace heapprof::agent {

struct ModuleInfo {
  uint64_t start_avma;
  uint64_t end_avma;
  uint64_t entry_avma;        // where the kernel or the loader enters the object (e_entry); 0: nowhere
  uint64_t table_start_avma;  // the mapped memory that holds .eh_frame_hdr and .eh_frame
  uint64_t table_end_avma;
  const uint8_t* eh_frame_hdr;  // nullptr: none
};

// The object that holds pc_avma; false if none does (JIT code …). Announces the object to the collector. generation:
// the generation of the caller's event.
bool find_module(uint64_t pc_avma, uint32_t generation, ModuleInfo* info);

// To be called while an object is being unloaded: invalidates what is known of the addresses of objects that are gone.
// pre: events are recorded.
void end_unloaded_modules();

// Invalidates what is known of a range of code that is in no object (unwind/registered_frames.h).
void end_known_code(const Ending& range);

// A callback. It gets the path of each object that is seen for the first time since it was loaded, under the module
// lock. If it returns true, a new generation begins, in which every address stays valid but every context has to get
// ready again. nullptr: no subscriber.
using NoteObject = bool (*)(const char* path);
extern NoteObject g_note_object_for_python;
extern NoteObject g_note_object_for_torch;

// Forgets every module, so that each is announced again: in a new session the collector knows none.
void reset_modules();

// Set by tests: find objects by the loader's list, as on glibc before 2.35, although _dl_find_object is there.
extern bool g_use_link_map_only;

}  // namespace heapprof::agent
