// cli/target/title_watch.h: the title that a process gives itself. nginx, postgres and Python's setproctitle write a
// title over the words that the program was started with, often after its first allocation.
//
// Guarantees
//  - The collector does not wait for a process. To show its words the kernel takes the process's mmap lock, which
//    others may hold for long. So a separate thread reads them, and the destructor does not wait for that thread.
//  - A title is that of the process and image that were added, as far as /proc shows an exec. If /proc is hidden, only
//    a process that has not called exec since it was forked gets a title.
//  - A first word that was only cut (as dirname does), or other words that were changed, are not a title.
// Context:  add is called by one thread, get by any. A forked copy calls nothing of this, and does not destroy it.
// Trust:    a title is text of the process's own, kMostBytes of it at most.
// Cost:     50 µs of the other thread's for a look: at once, 20 ms later, and each further one after twice as long, 10
//           s at most. A title that is set after the last look is missed.
#pragma once

#include "cli/target/process_identity.h"

#include <sys/types.h>

#include <memory>
#include <mutex>
#include <string>

namespace heapprof::cli {

// The title in the words of a process, whose first word was `before`. Empty: none.
std::string title_of(const std::string& first_word, const std::string& before);

class WatchedTitle {
 public:
  static constexpr size_t kMostBytes = 256;

  // is_fork: the image began by a fork, and not by an exec.
  WatchedTitle(pid_t pid, const ProcessLook& look, bool is_fork, std::string first_word)
      : pid_(pid), look_(look), is_fork_(is_fork), before_(std::move(first_word)) {}
  std::string get() const;  // empty: none so far
  void look();              // now; changes nothing where the process is gone, or is writing

 private:
  bool is_same(const ProcessLook& now) const;

  const pid_t pid_;
  const ProcessLook look_;  // when it was added
  const bool is_fork_;
  const std::string before_;
  mutable std::mutex lock_;
  std::string title_;
};

class TitleWatch {
 public:
  TitleWatch();
  ~TitleWatch();
  TitleWatch(const TitleWatch&) = delete;
  TitleWatch& operator=(const TitleWatch&) = delete;

  // The process is looked at until the returned object is destroyed. nullptr: out of memory.
  std::shared_ptr<const WatchedTitle> add(pid_t pid, const ProcessLook& look, bool is_fork, std::string first_word);

 private:
  struct Shared;
  std::shared_ptr<Shared> shared_;
};

}  // namespace heapprof::cli
