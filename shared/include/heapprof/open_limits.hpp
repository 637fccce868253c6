// heapprof/open_limits.hpp: the limits of heapprof/limits.hpp that are open in this process, and the handler of their
// failures.
//
// Header only, C++17. Users call set_limit_handler(); the rest is the limits' own.
#ifndef HEAPPROF_OPEN_LIMITS_HPP
#define HEAPPROF_OPEN_LIMITS_HPP

#include "heapprof/limit_failure.hpp"

#include <sys/types.h>
#include <unistd.h>

#include <atomic>
#include <cstddef>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <mutex>
#include <new>
#include <thread>

namespace heapprof {

class Limit;

namespace detail {

constexpr std::size_t kMostPending = 16;

// A failure that waits until its thread has no open limit.
struct PendingFailure {
  LimitFailure failure;
  std::thread::id thread;
};

// A program and the libraries that it is linked with share one object, whatever symbols they hide. A library opened by
// dlopen() has its own, unless the program is linked with -rdynamic; tests/integration/install/public_headers.sh shows
// both.
struct __attribute__((visibility("default"))) OpenLimits {
  std::mutex mutex;  // protects all but the atomics
  std::atomic<pid_t> process{0};
  Limit* first = nullptr;
  PendingFailure pending[kMostPending];
  std::size_t pending_count = 0;
  std::atomic<LimitHandler> handler{nullptr};
  std::atomic<unsigned> said{0};  // reasons for which a limit was not checked, by bit

  // Locks the mutex. A forked child begins without its parent's limits, whichever thread had the lock.
  std::unique_lock<std::mutex> lock() {
    constexpr pid_t kBeingReset = -1;
    const pid_t me = getpid();
    for (pid_t seen = process.load(std::memory_order_acquire); seen != me;
         seen = process.load(std::memory_order_acquire)) {
      if (seen == kBeingReset) {
        std::this_thread::yield();
      } else if (process.compare_exchange_strong(seen, kBeingReset, std::memory_order_acquire)) {
        if (seen != 0) {
          new (&mutex) std::mutex;
          first = nullptr;
          pending_count = 0;
        }
        process.store(me, std::memory_order_release);  // pairs with the loads above
      }
    }
    return std::unique_lock<std::mutex>(mutex);
  }
};

__attribute__((visibility("default"))) inline OpenLimits g_open_limits;

inline bool is_required() {
  const char* const value = std::getenv("HEAPPROF_REQUIRED");
  return value != nullptr && *value != '\0' && std::strcmp(value, "0") != 0;
}

// Passes the failure to the handler; without a handler, prints it to stderr and aborts.
inline void report(const LimitFailure& failure) {
  if (const LimitHandler handler = g_open_limits.handler.load(std::memory_order_acquire); handler != nullptr)
    return handler(failure);
  std::fputs(failure.message().c_str(), stderr);
  std::abort();
}

}  // namespace detail

// The handler gets each exceeded limit from now on; nullptr: stderr and abort(). Returns the previous handler. A
// handler may not throw, and runs in the thread whose limit it is.
inline LimitHandler set_limit_handler(LimitHandler handler) noexcept {
  return detail::g_open_limits.handler.exchange(handler, std::memory_order_acq_rel);
}

}  // namespace heapprof

#endif  // HEAPPROF_OPEN_LIMITS_HPP
