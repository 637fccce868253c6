// tests/targets/malloc/oracle/books.h: what every thread did, and at the end what a true profile must say.
//
// While the threads work they only append to a log of their own; every number is worked out from the logs afterwards,
// in the plainest way, so that the books share no cleverness with what they check.
//
// Guarantees
//  - Totals, live and per-stack numbers are exact.
//  - The peak is exact where one order exists: with one thread, and at the caps of barrier mode. Else it is bounded by
//    when each call began and returned.
// Not provided: times, resident memory.
#pragma once

#include <stddef.h>
#include <stdint.h>

namespace oracle {

inline constexpr uint32_t kNoKey = 0xffffffff;
inline constexpr uint32_t kMarker = 0xfffffffe;

// Was the ended block the last that its thread had allocated? A block that realloc turns into another is not temporary.
enum class Temporary : uint32_t { kNo, kYes, kUnknown };

// A block of old_key ended, or one of new_key began, or both at once (realloc).
struct Entry {
  uint64_t called;  // time before the call and after it
  uint64_t returned;
  uint64_t old_bytes;
  uint64_t new_bytes;
  uint32_t old_key;  // kNoKey: none; kMarker: the end of a segment
  uint32_t new_key;
  Temporary temporary;  // of the old block
  uint32_t by_realloc;
};

struct Log {
  Entry* entries;
  size_t count;
  size_t room;
  uint64_t failed_reallocs;
  uint64_t reallocs_to_nothing;  // realloc(p, 0), which frees
  uint64_t failures;             // any other call that refused

  void add(const Entry& entry);
  void mark();  // ends a segment
};

enum class Order {
  kOneThread,  // logs[0] is the whole story
  kBarriers,   // segments of even number run together, segments of odd number are logs[0] alone
  kFree,       // any order that the times allow
};

struct BooksHeader {
  uint64_t seed;
  uint32_t threads;
  uint64_t operations;
  const char* mode;
  uint32_t stacks;
};

// Works the books out and writes them as JSON to `path`; dies where that cannot be.
void write_books(const char* path, const BooksHeader& header, Log* logs, Order order);

}  // namespace oracle
