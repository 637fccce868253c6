// cli/collect/books/scope_book.h: the books of the program's own scopes: how often, how long, and what was allocated
// and freed in each; and its marks.
//
// A thread has a stack of open scopes. What it allocates counts for the innermost one. A thread may leave a part of its
// stack, and another thread may enter this part (coroutines). In between, the part is kept under the id of its
// outermost scope. A scope apart (a range of NVTX that may end in another thread) is in no thread's stack: it is kept
// like a part that was left, under its own id.
//
// Guarantees
//  - What scopes allocated and freed is exact, to the byte, in whatever order their begins and ends come.
//  - If a scope's end is missing, the next outer end or the end of its thread ends it, and it counts as left open.
//  - Memory is bounded: kMostPaths paths to a scope (further ones share one, without a name), kMostOpen scopes open at
//    a time and kMostMarks marks (further ones are counted).
// Context:  one thread; events in the order of their stamps.
// Trust:    every number is the target's; sums are modulo 2^64.
// Cost:     an event in a scope: 2-3 ns; a begin and an end: about 60 ns; single runs: instance_book.h.
#pragma once

#include "cli/base/saturating.h"
#include "cli/collect/books/device_ledger.h"
#include "cli/collect/books/instance_book.h"
#include "cli/collect/books/operator_book.h"
#include "cli/collect/books/site_book.h"

#include <cstdint>
#include <unordered_map>
#include <utility>
#include <vector>

namespace heapprof::cli {

// Of one device.
struct ScopeTally {
  uint32_t device;  // wire's number
  Amount allocated;
  Amount freed;
  uint64_t peak_inside_bytes;
};

// A path to a scope: its parent and its name; for a function of PyTorch's backward pass also the operator that created
// it.
struct ScopeKey {
  uint32_t parent;       // 0: no scope is around it
  uint32_t name;         // wire's number
  uint32_t forward = 0;  // the path of that operator; 0: unknown
  bool is_operator = false;

  bool operator==(const ScopeKey&) const = default;
};

struct ScopePath : ScopeKey {
  uint32_t latest;  // the path below it that was used last; 0: none
  uint64_t begun;
  uint64_t ended;
  uint64_t left_open;
  uint64_t untimed;  // ended, but no clock could be read
  uint64_t ticks;
  uint64_t own_ticks;
  uint64_t shortest_ticks;
  uint64_t longest_ticks;
  uint64_t items;
  uint64_t kernel_launches;
  ScopeTally host;
  std::vector<ScopeTally> devices;
  std::vector<uint64_t> durations;              // by duration_bucket() of ticks; as long as needed
  std::unordered_map<uint32_t, CallSum> calls;  // by wire::DeviceCall
};

struct MarkedMoment {
  uint32_t name;
  uint32_t thread_id;
  uint64_t ticks;
  std::vector<std::pair<uint32_t, Amount>> live;  // by wire's number of the device
};

class ScopeBook {
 public:
  static constexpr size_t kMostPaths = 1u << 14;
  static constexpr size_t kMostOpen = 1u << 20;
  static constexpr size_t kMostMarks = 10'000;
  static constexpr uint32_t kHost = 0;  // the host's number as a device

  // `stack` below: a thread's stack of open scopes (ThreadSlot::scopes); 0: it is in none. Functions that return a
  // stack return the thread's stack from now on.

  // operator_word: wire::pack_operator; 0: it is no operator
  uint32_t begin(uint32_t stack, uint32_t name, uint64_t id, uint64_t ticks, uint32_t operator_word = 0);
  uint32_t end(uint32_t stack, uint64_t id, uint64_t ticks);
  // A scope in no thread's stack: it has a time, and no memory.
  void begin_apart(uint32_t name, uint64_t id, uint64_t ticks);
  // Ends that scope, and nothing inside it. If it is not open, that is counted. id: may be 0, which is never open
  uint32_t end_only(uint32_t stack, uint64_t id, uint64_t ticks);
  uint32_t leave(uint32_t stack, uint64_t id, uint64_t ticks);
  uint32_t enter(uint32_t stack, uint64_t id, uint64_t ticks);
  void add_items(uint32_t stack, uint64_t id, uint64_t items);
  // The thread has ended.
  void end_all(uint32_t stack, uint64_t ticks);
  void mark(MarkedMoment&& moment);
  // Call it before each of those above: the thread, and what is live on the host.
  void set_now(uint32_t thread_id, uint64_t host_live_bytes) {
    now_thread_id_ = thread_id;
    now_live_bytes_ = host_live_bytes;
  }
  // What is live on other devices has changed.
  void set_devices_live(InstanceBook::DevicesLive&& live) { instances_.set_devices_live(std::move(live)); }

  // For the heap, in the innermost scope. pre: stack is not 0
  void allocate(uint32_t stack, Amount amount) {
    Open& innermost = stacks_[stack].back();
    count_allocation(&paths_[innermost.path].host, amount);
    innermost.host.rise(amount.bytes);
  }
  void free(uint32_t stack, Amount amount) {
    Open& innermost = stacks_[stack].back();
    count_free(&paths_[innermost.path].host, amount);
    innermost.host.growth -= amount.bytes;
  }
  // For a device. pre: as above
  void change(uint32_t stack, uint32_t device, Amount allocated, Amount freed);
  void call(uint32_t stack, wire::DeviceCall call, uint64_t duration_ticks, uint64_t size_bytes);
  void launch_kernels(uint32_t stack, uint64_t count) { paths_[stacks_[stack].back().path].kernel_launches += count; }

  // The same if the thread may be in another scope by now: the amount counts only for the scope with this path.
  uint32_t path_of(uint32_t stack) const { return stack == 0 ? 0 : stacks_[stack].back().path; }
  void allocate_by_path(uint32_t path, Amount amount) { count_allocation(&paths_[path].host, amount); }
  void free_by_path(uint32_t path, Amount amount) { count_free(&paths_[path].host, amount); }

  // Call it when no event comes any more. end_ticks: the time until which open scopes lasted
  void finish(uint64_t end_ticks);

  // [0] is outside all scopes: nothing of it is counted.
  const std::vector<ScopePath>& paths() const { return paths_; }
  // By the number of a path - 1.
  const InstanceBook& instances() const { return instances_; }
  const std::vector<MarkedMoment>& marks() const { return marks_; }
  uint64_t lost() const { return lost_; }
  // Sums over all paths: begins, and blocks of the heap.
  uint64_t begun() const;
  uint64_t allocated_blocks() const;
  uint64_t lost_marks() const { return lost_marks_; }
  uint64_t unmatched_ends() const { return unmatched_ends_; }
  // About how much memory it takes.
  uint64_t bytes() const {
    return paths_.size() * (sizeof(ScopePath) + kPathBytes) + open_ * sizeof(Open) +
           positions_.size() * kPositionBytes + marks_.size() * kMarkBytes + instances_.bytes() + operators_.bytes();
  }

 private:
  static constexpr uint64_t kPathBytes = 2048;
  static constexpr uint64_t kPositionBytes = 56;
  static constexpr uint64_t kMarkBytes = 160;

  // A scope's growth since its begin.
  struct Level {
    uint64_t growth;  // modulo 2^64
    int64_t peak;     // since it was last added to the scope around it
    int64_t highest;  // the highest growth ever
    uint64_t passed;  // the part of `growth` that was added to the scope around it

    void rise(uint64_t size_bytes) {
      growth += size_bytes;
      note(static_cast<int64_t>(growth));
    }
    void note(int64_t level) {
      if (level <= peak) return;
      peak = level;
      if (level > highest) highest = level;
    }
  };
  struct Open {
    uint64_t id;
    uint32_t path;
    bool is_timed;
    bool is_apart;  // never in a thread's stack, so its time never stops
    bool was_left;
    uint64_t since_ticks;   // when it began, or was entered last
    uint64_t active_ticks;  // before that
    uint64_t inner_ticks;   // of scopes inside it
    uint64_t passed_ticks;  // the part of its time that was added to the scope around it
    uint64_t items;
    uint64_t begin_ticks;
    uint64_t live_before_bytes;
    uint32_t devices_before;  // the row of InstanceBook for what devices had before
    uint32_t thread_id;       // the thread that began it
    Level host;
    std::vector<std::pair<uint32_t, Level>> devices;
  };
  // A thread's open scopes. The first represents code in no scope, so that there is always an innermost one.
  using Stack = std::vector<Open>;
  // Where an open scope is: in a thread's stack, or in the part that was left with the outermost scope `left`.
  struct Position {
    uint32_t stack;  // 0: it was left
    uint64_t left;
    size_t depth;
  };
  static constexpr size_t kLooks = 32;  // at the thread's innermost scopes

  static void count_allocation(ScopeTally* tally, Amount amount) {
    add_to(&tally->allocated.bytes, amount.bytes);
    tally->allocated.blocks += amount.blocks;
  }
  static void count_free(ScopeTally* tally, Amount amount) {
    add_to(&tally->freed.bytes, amount.bytes);
    tally->freed.blocks += amount.blocks;
  }
  static ScopeTally& tally_of(ScopePath* path, uint32_t device);
  static Level& level_of(Open* open, uint32_t device);
  static void pass_on(Level* inner, Level* outer);
  uint32_t path_to(const ScopeKey& key);
  uint32_t find_path(const ScopeKey& key);
  void count_time(Open* open, uint64_t ticks);
  void pass_on(Open* inner, Open* outer);
  void pass_all_on(Stack* stack);
  enum class How { kEnded, kLeftOpen };
  void close(Stack* stack, size_t depth, uint64_t ticks, How how);
  void close_last(Stack* stack, uint64_t ticks, How how);
  void note_begin(Open* open, uint64_t ticks);
  void keep_run(const Open& open, uint32_t flags);
  void note_position(uint64_t id, Position position);
  void learn_positions();
  const Position* find(uint32_t stack, uint64_t id);
  Stack& stack_at(const Position& position);
  uint32_t settled(uint32_t stack);
  uint32_t new_stack();

  std::vector<ScopePath> paths_ = std::vector<ScopePath>(1);
  struct HashOfKey {
    size_t operator()(const ScopeKey& key) const {
      const uint64_t words = (uint64_t{key.parent} << 32 | key.name) ^ (uint64_t{key.forward} << 17 | key.is_operator);
      return (words ^ words >> 29) * 0x9E3779B97F4A7C15ull >> 7;
    }
  };
  std::unordered_map<ScopeKey, uint32_t, HashOfKey> index_;
  OperatorBook operators_;
  std::vector<Stack> stacks_ = std::vector<Stack>(1, Stack(1));
  std::vector<uint32_t> free_stacks_;
  std::unordered_map<uint64_t, Stack> left_;  // by the id of the outermost
  // By id, filled only once a scope was not among its thread's innermost: most programs never need it.
  std::unordered_map<uint64_t, Position> positions_;
  bool knows_positions_ = false;
  Position found_{};
  size_t open_ = 0;
  InstanceBook instances_;
  uint64_t now_ticks_ = 0;  // the time of the end that is being recorded
  uint64_t now_live_bytes_ = 0;
  uint32_t now_thread_id_ = 0;
  uint64_t lost_ = 0;
  std::vector<MarkedMoment> marks_;
  uint64_t lost_marks_ = 0;
  uint64_t unmatched_ends_ = 0;
};

}  // namespace heapprof::cli
