// agent/process/loader_lock.h: the loader's lock (dl_load_lock): while it is held, no object is loaded or unloaded.
//
// It is not the lock of the loader's list (dl_load_write_lock, which dl_iterate_phdr and every exception take). If a
// thread forks while another thread holds that lock, the child finds it taken forever, whereas glibc reinitialises
// dl_load_lock in a child (tests/integration/attach/zoo.sh: fork_threads).
//
// Context:  heapprof's own thread in a program that runs already (start/attach.h); never a hook.
#pragma once

namespace heapprof::agent {

// Finds the lock: the loader's only recursive mutex whose owner is the calling thread. pre: the thread holds it, as it
// does in a constructor.
void note_loader_lock();
// Waits for up to 5 s. False: another thread holds it, or it was not found.
bool lock_loader();
void unlock_loader();

}  // namespace heapprof::agent
