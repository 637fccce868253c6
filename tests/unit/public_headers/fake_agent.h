// tests/unit/public_headers/fake_agent.h: an agent whose numbers a test makes: what heapprof/heapprof.h asks is
// answered from books that allocate() and release() write.
#pragma once

#include <heapprof/heapprof.h>

#include <cstdint>

namespace heapprof {

// Answers while it is alive; before and afterwards there is no profiler.
class FakeAgent {
 public:
  FakeAgent();
  FakeAgent(const FakeAgent&) = delete;
  FakeAgent& operator=(const FakeAgent&) = delete;
  ~FakeAgent();

  void allocate(uint64_t bytes, const char* device = "host");
  void release(uint64_t bytes, const char* device = "host");
  void answer(int result);  // what every question returns from now on; HEAPPROF_OK: the books
  uint64_t questions() const;
  uint64_t phases() const;
  uint64_t open_measurements() const;
  uint64_t open_scopes() const;
  const char* last_scope() const;     // the text of the name of the last scope that was begun
  const char* last_category() const;  // "" for none
  uint64_t last_items() const;        // of the last scope that ended
};

}  // namespace heapprof
