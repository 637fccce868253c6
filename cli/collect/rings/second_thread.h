// cli/collect/rings/second_thread.h: a second thread of the collector, for work in parallel with the first.
//
// Guarantees
//  - The work sees what was written before start(). After wait() the caller sees what the work wrote.
//  - If the system refuses a thread, start() does the work itself.
//  - Between wait() and start() the thread does nothing, so a fork copies no unfinished work.
// Context:  one thread calls start and wait. A forked copy calls neither, and does not destroy it.
// Cost:     the first start() creates the thread; each later one wakes it: about 5 µs, some of it the caller's.
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

  // pre: no work is running: wait() was called since the last start
  void start(std::function<void()> work);
  // Waits until the work is done; without work it returns at once. Throws what the work threw, once.
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
