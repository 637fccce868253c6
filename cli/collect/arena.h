// cli/collect/arena.h: the memory that one process and the collector share: made, sized and sealed here
// (shared/wire.h).
//
// Guarantees
//  - The target cannot resize it under us: reading it never faults.
//  - Address space is reserved for the control page, the module table and the headers; for a ring's data when it is
//    first read.
// Trust:    every byte may change at any moment.
#pragma once

#include "cli/base/fd.h"
#include "cli/base/result.h"
#include "shared/kernels.h"
#include "shared/questions.h"
#include "shared/scopes.h"

#include <cstdint>
#include <memory>
#include <vector>

namespace heapprof::cli {

class Arena {
 public:
  static Result<std::unique_ptr<Arena>> create();
  // Whether the kernel can make an arena's file now, as create() will do. The file is closed again. Cost: four system
  // calls; a file without contents has no memory.
  static Result<Done> try_file();
  ~Arena();
  Arena(const Arena&) = delete;
  Arena& operator=(const Arena&) = delete;

  int fd() const { return fd_.get(); }
  // As /proc/PID/maps has it; 0: unknown.
  uint64_t inode() const;
  wire::Control& control() { return *reinterpret_cast<wire::Control*>(base_); }
  wire::Question& question(uint32_t index) {
    return reinterpret_cast<wire::Question*>(base_ + wire::kQuestionsOff)[index];
  }
  char* text(uint32_t question) {
    return reinterpret_cast<char*>(base_ + wire::kTextsOff + question * wire::kTextBytes);
  }
  wire::SamplingPage& sampling() { return *reinterpret_cast<wire::SamplingPage*>(base_ + wire::kSamplingOff); }
  const unsigned char* module_table() const { return base_ + wire::kModuleTableOff; }
  const wire::Note* notes() const { return reinterpret_cast<const wire::Note*>(base_ + wire::kNotesOff); }
  const wire::Name* names() const { return reinterpret_cast<const wire::Name*>(base_ + wire::kNamesOff); }
  wire::Name* writable_names() { return reinterpret_cast<wire::Name*>(base_ + wire::kNamesOff); }
  const wire::KernelName* kernel_names() const {
    return reinterpret_cast<const wire::KernelName*>(base_ + wire::kKernelsOff);
  }
  wire::RingHeader& header(uint32_t ring) {
    return reinterpret_cast<wire::RingHeader*>(base_ + wire::kRingHeadersOff)[ring];
  }
  // Writes the plan for inner allocators where the agent looks for it. False: it is empty, or has no room.
  bool put_inner_plan(const std::vector<unsigned char>& plan);
  // Python code objects: wire::kCodesBytes. nullptr: no address space is left.
  const unsigned char* codes();
  // The data of a ring; nullptr: no address space is left.
  const uint64_t* ring_words(uint32_t ring);
  // Frees the memory of those chunks of a ring (bits; wire::kChunkBytes each): they read as zeros. False: the kernel
  // refuses. pre: no thread writes to them
  bool give_back(uint32_t ring, uint32_t chunks);
  uint64_t resident_bytes() const;

 private:
  Arena(UniqueFd fd, unsigned char* region) : fd_(std::move(fd)), region_(region), base_(region + wire::kPageBytes) {}

  UniqueFd fd_;
  unsigned char* region_;  // a private page (see liveness.h), then the shared memory up to the rings' data
  unsigned char* base_;
  std::vector<void*> rings_;
  void* codes_ = nullptr;
};

}  // namespace heapprof::cli
