// cli/base/spawn.h: starts helper programs with no signal blocked and every signal's action reset to its default, even
// if the run itself has blocked signals (cli/run/signals.h).
#pragma once

#include <signal.h>
#include <spawn.h>

namespace heapprof::cli {

class SpawnAttributes {
 public:
  SpawnAttributes() {
    sigset_t none;
    sigset_t all;
    sigemptyset(&none);
    sigfillset(&all);
    posix_spawnattr_init(&attributes_);
    posix_spawnattr_setsigmask(&attributes_, &none);
    posix_spawnattr_setsigdefault(&attributes_, &all);
    set_flags(0);
  }
  ~SpawnAttributes() { posix_spawnattr_destroy(&attributes_); }
  SpawnAttributes(const SpawnAttributes&) = delete;
  SpawnAttributes& operator=(const SpawnAttributes&) = delete;

  // Starts the program in a process group of its own.
  void leave_group() {
    posix_spawnattr_setpgroup(&attributes_, 0);
    set_flags(POSIX_SPAWN_SETPGROUP);
  }
  const posix_spawnattr_t* get() const { return &attributes_; }

 private:
  void set_flags(short more) {
    posix_spawnattr_setflags(&attributes_, static_cast<short>(POSIX_SPAWN_SETSIGMASK | POSIX_SPAWN_SETSIGDEF | more));
  }

  posix_spawnattr_t attributes_{};
};

}  // namespace heapprof::cli
