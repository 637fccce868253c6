// cli/collect/rings/ring_merge.h: merges the events of several rings in the order of their stamps.
//
// Guarantees
//  - Events of one ring keep their order; if stamps of two rings are equal, the lower ring's event comes first.
// Cost:     a heap of rings: about 10 ns an event for every doubling of the number of rings whose events alternate.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

namespace heapprof::cli {

class MergeHeap {
 public:
  struct Head {
    uint64_t stamp;
    uint32_t ring;

    bool operator<(const Head& other) const { return stamp != other.stamp ? stamp < other.stamp : ring < other.ring; }
  };

  void clear() { heads_.clear(); }
  bool empty() const { return heads_.empty(); }
  size_t size() const { return heads_.size(); }
  const Head& top() const { return heads_.front(); }

  void push(Head head) {
    size_t i = heads_.size();
    heads_.push_back(head);
    for (; i != 0 && head < heads_[(i - 1) / 2]; i = (i - 1) / 2) heads_[i] = heads_[(i - 1) / 2];
    heads_[i] = head;
  }
  // The top ring's next event.
  void replace_top(Head head) { sift_down(head); }
  void pop() {
    const Head last = heads_.back();
    heads_.pop_back();
    if (!heads_.empty()) sift_down(last);
  }
  // The latest stamp at which an event of the top ring comes before every other ring's. pre: there are others.
  uint64_t last_stamp_of_run() const {
    const Head& next = heads_.size() > 2 && heads_[2] < heads_[1] ? heads_[2] : heads_[1];
    return top().ring < next.ring ? next.stamp : next.stamp - 1;  // not 0: then `next` would be the top
  }

 private:
  void sift_down(Head head) {
    size_t i = 0;
    for (;;) {
      size_t child = 2 * i + 1;
      if (child >= heads_.size()) break;
      if (child + 1 < heads_.size() && heads_[child + 1] < heads_[child]) ++child;
      if (!(heads_[child] < head)) break;
      heads_[i] = heads_[child];
      i = child;
    }
    heads_[i] = head;
  }

  std::vector<Head> heads_;
};

}  // namespace heapprof::cli
