// agent/process/environment.h: our two variables: read at the start, put into the environment of a new program or taken
// out of it.
//
// Guarantees
//  - What else stands in an environment, and its order, stays as it is; so do the user's own entries of LD_PRELOAD.
//  - Nothing is allocated: the caller has the memory.
//  - What a program hands over as an environment may be no address: it never faults here, and goes on as it is, for the
//    kernel to refuse (tests/integration/processes/bad_pointers.sh). So does one that could not be read for another
//    reason: where process_vm_readv is not to be had, programs that are given another environment are not followed.
// Context:  anywhere, vfork children and signal handlers included, except where a line says otherwise.
#pragma once

#include <stddef.h>
#include <stdint.h>

namespace heapprof::agent {

struct Invitation {
  const char* socket_path = nullptr;  // nullptr: nobody profiles this process
  bool follow = true;
  uint32_t collector_filters = 0;  // seccomp filters that the collector itself runs under
};
// Reads the environment as the kernel handed it over, or as libc has it; once, the text is copied.
Invitation find_invitation();

// An invitation that came later, with the agent's file ("": programs that this one starts are not invited). False: it
// is none. Context: no other thread asks for one.
bool take_invitation(const char* value, const char* agent_file);
bool has_taken_invitation();

// The agent's file, as LD_PRELOAD had it at the start, or the invitation that came later; empty if it was not there.
const char* agent_path();

// --no-follow: takes our entries out of LD_PRELOAD and the environment, so that children start as without us.
// Context: the constructor.
void clean_environment();

enum class EnvironmentChange { kInvite, kRemove };

// Whether LD_PRELOAD in an environment names a library of a sanitizer that must be loaded first (sanitizer_check.h). Of
// the list, 1 KiB is looked at.
bool preloads_sanitizer(char* const* variables);

// Whether an environment tells the loader to list what it would load, and to run nothing (ldd).
bool lists_objects(char* const* variables);

// Bytes that change_environment needs; 0: the environment is as it should be, or there is no invitation to pass on, or
// it cannot be read, or is larger than any that a program can be given.
size_t changed_environment_bytes(char* const* variables, EnvironmentChange change);
// Returns a changed copy in `memory`, which is `bytes` long; strings that do not change are the old ones. Returns
// `variables` itself if there is nothing to be changed after all, or the copy has no room any more (another thread
// called setenv). variables: may be nullptr, as for the kernel.
char* const* change_environment(char* const* variables, EnvironmentChange change, void* memory, size_t bytes);

}  // namespace heapprof::agent
