// agent/process/loader_lock.h: the loader's lock (dl_load_lock): while it is held no object is loaded or unloaded.
//
// It is not the lock of the loader's list (dl_load_write_lock, which dl_iterate_phdr and every exception take): a child
// that is forked while another thread has that one finds it taken for ever, whereas this one is made anew in a child
// (tests/integration/attach/zoo.sh: fork_threads).
//
// Context:  heapprof's thread in a program that runs (start/attach.h), and no hook.
#pragma once

namespace heapprof::agent {

// Finds the lock: the one recursive mutex of the loader's that names the calling thread.
// pre: the thread has it, as a constructor has.
void note_loader_lock();
// Waits for 5 s. False: another thread holds it, or it was not found.
bool lock_loader();
void unlock_loader();

}  // namespace heapprof::agent
