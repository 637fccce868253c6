// cli/collect/liveness.h: lets agents see that their collector has died, however it died.
//
// The kernel marks a futex word with FUTEX_OWNER_DIED when the thread that holds it ends, if the word is on the
// thread's list of robust futexes. A robust pthread_mutex_t works in the same way, but glibc's has the links of that
// list next to the word. The target may write the memory with the word, so with such links it could make heapprof's own
// libc write anywhere. Here the links are in a private page, at a fixed distance before the shared one.
//
// Guarantees
//  - From hold() to drop() the word has kFutexOwnerDied set as soon as the calling thread is gone. If more than
//    kMostOnList words are held at once, those beyond this number have it set as soon as the process is gone.
// Not provided: this guarantee for the words beyond kMostOnList, if no thread can be created for them.
// Context:  hold and drop in one thread, which uses none of libc's robust mutexes in between.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>

namespace heapprof::cli {

inline constexpr uint64_t kLivenessDistance = 4096;  // bytes from the private entry to the word
inline constexpr size_t kMostOnList = 2000;          // the kernel walks 2,048 (ROBUST_LIST_LIMIT)

// pre: the kLivenessDistance bytes before `word` are private memory, kept until drop().
void hold_liveness(std::atomic<uint32_t>* word);
void drop_liveness(std::atomic<uint32_t>* word);

}  // namespace heapprof::cli
