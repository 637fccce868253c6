// cli/collect/rings/second_thread.h: one more thread of the collector, for work that goes on beside its own.
//
// Guarantees
//  - What was written before start() is seen by the work, and what the work wrote is seen after wait().
//  - Where the system gives no thread, start() does the work itself.
//  - Between wait() and start() the thread sleeps, and a fork copies nothing half done.
// Context:  start and wait are called by one thread. A forked copy calls neither, and does not destroy it.
// Cost:     the thread is made by the first start(); each later one wakes it up: about 5 µs, some of it the caller's.
#pragma once

#include <atomic>
#include <cstdint>
#include <exception>
#include <functional>
#include <thread>

namespace heapprof::cli {

class SecondThread {
 public:
  SecondThread() = default;
  ~SecondThread();
  SecondThread(const SecondThread&) = delete;
  SecondThread& operator=(const SecondThread&) = delete;

  // pre: nothing is at work: wait() was called since the last start.
  void start(std::function<void()> work);
  // Waits until the work is done; returns at once if there is none. Throws what the work threw, once.
  void wait();

 private:
  enum State : uint32_t { kIdle, kWorking, kEnding };

  void work_until_end();

  std::atomic<uint32_t> state_ = kIdle;
  std::function<void()> work_;
  std::exception_ptr thrown_;
  std::thread thread_;
};

}  // namespace heapprof::cli
