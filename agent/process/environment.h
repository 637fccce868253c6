// agent/process/environment.h: the agent's two variables: read at the start, added to the environment of a new program
// or removed from it.
//
// Guarantees
//  - Everything else in an environment, and its order, is unchanged; so are the user's own entries of LD_PRELOAD.
//  - Nothing is allocated: the caller has the memory.
//  - The environment that a program passes may be an invalid address. The agent never faults on it, and passes it on
//    unchanged, so that the kernel can refuse it (tests/integration/processes/bad_pointers.sh). If an environment
//    cannot be read for another reason, it is also passed on unchanged. Then the program is followed only if the
//    environment already has the agent's variables.
// Context:  anywhere, vfork children and signal handlers included, except where a line says otherwise.
#pragma once

#include <stddef.h>
#include <stdint.h>

namespace heapprof::agent {

struct Invitation {
  const char* socket_path = nullptr;  // nullptr: this process is not profiled
  bool follow = true;
  uint32_t collector_filters = 0;  // seccomp filters that the collector itself runs under
};
// Reads the environment once, as the kernel passed it or as libc has it, and copies the text.
Invitation find_invitation();

// Stores an invitation that came later, with the agent's file ("": programs that this one starts are not invited).
// False: `value` is not an invitation. Context: no other thread asks for one.
bool take_invitation(const char* value, const char* agent_file);
bool has_taken_invitation();

// The agent's file: from LD_PRELOAD at the start, or from the invitation that came later; empty if it was in neither.
const char* agent_path();

// --no-follow: removes the agent's entries from LD_PRELOAD and the environment, so that children start as without the
// agent.
// Context: the constructor.
void clean_environment();

enum class EnvironmentChange { kInvite, kRemove };

// Whether LD_PRELOAD in an environment names a library of a sanitizer that must be loaded first (sanitizer_check.h).
// Checks 1 KiB of the list.
bool preloads_sanitizer(char* const* variables);

// Whether an environment tells the loader to list what it would load, and to run nothing (ldd).
bool lists_objects(char* const* variables);

// Bytes that change_environment needs. 0: the environment needs no change, or there is no invitation to pass on, or the
// environment cannot be read, or it is larger than any that a program can be given.
size_t changed_environment_bytes(char* const* variables, EnvironmentChange change);
// Returns a changed copy in `memory`, which is `bytes` long; strings that do not change are the old ones. Returns
// `variables` itself if there is nothing to be changed after all, or the copy has no room any more (another thread
// called setenv). variables: may be nullptr, as for the kernel.
char* const* change_environment(char* const* variables, EnvironmentChange change, void* memory, size_t bytes);

}  // namespace heapprof::agent
