// cli/collect/books/tensor_book.h: the tensors that threads report before a snapshot, and their blocks in the books.
//
// Guarantees
//  - A block counts once in a snapshot, with the role that was reported first.
//  - Memory is bounded: kMost tensors are kept until their threads' snapshots. A snapshot keeps, for each device,
//    kMostSites of their sites and the ten largest tensors; all snapshots together keep kMostKeptSites sites. Further
//    tensors are counted, and further sites are added up as one site for each role.
// Context:  one thread.
// Trust:    every address is the target's: it is looked up, and never dereferenced.
#pragma once

#include "cli/collect/books/site_book.h"
#include "shared/scopes.h"

#include <cstdint>
#include <map>
#include <unordered_map>
#include <utility>
#include <vector>

namespace heapprof::cli {

struct ToldTensor {
  uint64_t address;
  uint32_t name;  // wire's number; 0: none
  wire::TensorRole role;
};

struct KeptTensor {
  uint64_t size_bytes;  // of its block
  uint64_t birth;       // ticks
  uint32_t site;
  uint32_t name;
  wire::TensorRole role;
};

// How much of a device's memory was in tensors at a snapshot.
struct KeptTensors {
  uint32_t device;                                                // as in KeptDevice
  std::map<std::pair<uint32_t, wire::TensorRole>, Amount> sites;  // by the site of their blocks
  std::vector<KeptTensor> largest;                                // ten at most, the largest first
};

class TensorBook {
 public:
  static constexpr size_t kMost = 1u << 18;
  static constexpr size_t kMostSites = 1u << 10;      // of a device at a snapshot
  static constexpr size_t kMostKeptSites = 1u << 17;  // of all snapshots
  static constexpr size_t kLargest = 10;

  // If there is no room for the tensor, it is counted with those that are not found.
  void tell(uint32_t thread, const ToldTensor& tensor);
  // What the thread has reported since its last snapshot.
  std::vector<ToldTensor> take(uint32_t thread);
  uint64_t take_left_out(uint32_t thread);
  void forget_thread(uint32_t thread);
  // Adds the tensor to its device in a snapshot.
  void keep(const KeptTensor& tensor, KeptTensors* of_device);
  uint64_t bytes() const { return told_count_ * sizeof(ToldTensor) + kept_sites_ * kSiteBytes; }

 private:
  static constexpr uint64_t kSiteBytes = 80;  // an entry of KeptTensors::sites

  struct Told {
    std::vector<ToldTensor> tensors;
    uint64_t left_out = 0;
  };
  std::unordered_map<uint32_t, Told> told_;  // by thread
  size_t told_count_ = 0;
  size_t kept_sites_ = 0;
};

}  // namespace heapprof::cli
