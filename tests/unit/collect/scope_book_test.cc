// tests/unit/collect/scope_book_test.cc: the books of scopes agree with a plain model in which every event is told to
// every open scope, whatever order begins, ends, leaves and enters come in, on several threads.
#include "cli/collect/books/scope_book.h"

#include "cli/model/profile/scopes.h"
#include "shared/scopes.h"
#include "shared/wire.h"

#include <catch2/catch.hpp>

#include <algorithm>
#include <map>
#include <numeric>
#include <random>

namespace heapprof::cli {
namespace {

using Names = std::vector<uint32_t>;  // a path, outermost first
constexpr uint32_t kDevices[] = {ScopeBook::kHost, wire::kMappedDevice, wire::kFirstCudaDevice};
constexpr size_t kDeviceCount = std::size(kDevices);

struct Memory {
  uint64_t bytes = 0, blocks = 0, freed_bytes = 0, freed_blocks = 0, peak = 0;
  bool operator==(const Memory&) const = default;
};
struct Sum {
  uint64_t begun = 0, ended = 0, left_open = 0, ticks = 0, own_ticks = 0, shortest = UINT64_MAX, longest = 0, items = 0;
  uint64_t launches = 0, calls = 0;
  Memory memory[kDeviceCount];
};
struct OpenFrame {
  uint64_t id;
  Names path;
  uint64_t ticks = 0, own_ticks = 0, items = 0;
  int64_t growth[kDeviceCount] = {};
  int64_t peak[kDeviceCount] = {};
};

class Model {
 public:
  using Frames = std::vector<OpenFrame>;
  explicit Model(size_t threads) : threads_(threads) {}

  // Time goes by: of every thread's scopes.
  void advance(uint64_t ticks) {
    for (auto* all : {&threads_, &apart_}) {
      for (Frames& open : *all) {
        for (OpenFrame& frame : open) frame.ticks += ticks;
        if (!open.empty()) open.back().own_ticks += ticks;
      }
    }
  }
  void begin_apart(uint32_t name, uint64_t id) {
    ++sums[Names{name}].begun;
    apart_.push_back({OpenFrame{id, Names{name}}});
  }
  // False: it is not open.
  bool end_only(uint64_t id) {
    bool is_found = false, is_whole = false;
    each([&](Frames& frames, size_t depth) {
      if (frames[depth].id != id) return false;
      is_found = true;
      is_whole = depth == 0 && std::any_of(left_.begin(), left_.end(), [&](const Frames& f) { return &f == &frames; });
      if (!is_whole) close_at(&frames, depth, true);
      return true;
    });
    if (is_whole) end(id);
    return is_found;
  }
  void begin(size_t thread, uint32_t name, uint64_t id) {
    OpenFrame frame{id, threads_[thread].empty() ? Names{} : threads_[thread].back().path};
    frame.path.push_back(name);
    ++sums[frame.path].begun;
    threads_[thread].push_back(frame);
  }
  void end(uint64_t id) {
    each([&](Frames& frames, size_t depth) {
      if (frames[depth].id != id) return false;
      while (frames.size() > depth + 1) close(&frames, false);
      close(&frames, true);
      return true;
    });
    left_.erase(std::remove_if(left_.begin(), left_.end(), [](const Frames& frames) { return frames.empty(); }),
                left_.end());
  }
  void leave(size_t thread, uint64_t id) {
    Frames& open = threads_[thread];
    const auto at = std::find_if(open.begin(), open.end(), [id](const OpenFrame& frame) { return frame.id == id; });
    if (at == open.end()) return;
    left_.emplace_back(at, open.end());
    open.erase(at, open.end());
  }
  void enter(size_t thread, uint64_t id) {
    const auto at =
        std::find_if(left_.begin(), left_.end(), [id](const Frames& frames) { return frames.front().id == id; });
    if (at == left_.end()) return;
    threads_[thread].insert(threads_[thread].end(), at->begin(), at->end());
    left_.erase(at);
  }
  void add_items(uint64_t id, uint64_t items) {
    each([&](Frames& frames, size_t depth) {
      if (frames[depth].id != id) return false;
      frames[depth].items += items;
      return true;
    });
  }
  void end_all(size_t thread) {
    while (!threads_[thread].empty()) close(&threads_[thread], false);
  }
  void change(size_t thread, size_t device, Amount allocated, Amount freed) {
    Frames& open = threads_[thread];
    if (open.empty()) return;
    Memory& memory = sums[open.back().path].memory[device];
    memory.bytes += allocated.bytes;
    memory.blocks += allocated.blocks;
    memory.freed_bytes += freed.bytes;
    memory.freed_blocks += freed.blocks;
    for (OpenFrame& frame : open) {
      frame.growth[device] += static_cast<int64_t>(allocated.bytes) - static_cast<int64_t>(freed.bytes);
      frame.peak[device] = std::max(frame.peak[device], frame.growth[device]);
    }
  }
  Sum* innermost(size_t thread) { return threads_[thread].empty() ? nullptr : &sums[threads_[thread].back().path]; }
  void finish() {
    each([&](Frames& frames, size_t depth) {
      note_peaks(frames[depth]);
      return false;
    });
  }
  // Ids of what is open or was left.
  std::vector<uint64_t> ids() {
    std::vector<uint64_t> result;
    each([&](Frames& frames, size_t depth) {
      result.push_back(frames[depth].id);
      return false;
    });
    return result;
  }

  std::map<Names, Sum> sums;

 private:
  template <typename Visit>
  void each(const Visit& visit) {
    for (auto* all : {&threads_, &left_, &apart_}) {
      for (Frames& frames : *all) {
        for (size_t depth = 0; depth < frames.size(); ++depth) {
          if (visit(frames, depth)) return;
        }
      }
    }
  }
  void note_peaks(const OpenFrame& frame) {
    for (size_t i = 0; i < kDeviceCount; ++i) {
      uint64_t& peak = sums[frame.path].memory[i].peak;
      peak = std::max(peak, static_cast<uint64_t>(frame.peak[i]));
    }
  }
  void close(Frames* frames, bool by_its_end) { close_at(frames, frames->size() - 1, by_its_end); }
  void close_at(Frames* frames, size_t depth, bool by_its_end) {
    const OpenFrame frame = (*frames)[depth];
    frames->erase(frames->begin() + static_cast<std::ptrdiff_t>(depth));
    note_peaks(frame);
    Sum& sum = sums[frame.path];
    sum.items += frame.items;
    ++(by_its_end ? sum.ended : sum.left_open);
    if (!by_its_end) return;
    sum.ticks += frame.ticks;
    sum.own_ticks += frame.own_ticks;
    sum.shortest = std::min(sum.shortest, frame.ticks);
    sum.longest = std::max(sum.longest, frame.ticks);
  }

  std::vector<Frames> threads_;
  std::vector<Frames> left_;
  std::vector<Frames> apart_;  // one each; empty: it has ended
};

Memory memory_of(const ScopeTally& tally) {
  return {tally.allocated.bytes, tally.allocated.blocks, tally.freed.bytes, tally.freed.blocks,
          tally.peak_inside_bytes};
}

void compare(const ScopeBook& book, const Model& model) {
  std::vector<Names> names(book.paths().size());
  REQUIRE(book.paths().size() == model.sums.size() + 1);
  for (size_t i = 1; i < book.paths().size(); ++i) {
    const ScopePath& path = book.paths()[i];
    REQUIRE(path.parent < i);
    names[i] = names[path.parent];
    names[i].push_back(path.name);
    const auto at = model.sums.find(names[i]);
    REQUIRE(at != model.sums.end());
    const Sum& sum = at->second;
    CHECK(path.begun == sum.begun);
    CHECK(path.ended == sum.ended);
    CHECK(path.left_open == sum.left_open);
    CHECK(path.untimed == 0);
    CHECK(path.ticks == sum.ticks);
    CHECK(path.own_ticks == sum.own_ticks);
    if (sum.ended != 0) CHECK(path.shortest_ticks == sum.shortest);
    CHECK(path.longest_ticks == sum.longest);
    CHECK(path.items == sum.items);
    CHECK(path.kernel_launches == sum.launches);
    uint64_t calls = 0;
    for (const auto& [call, total] : path.calls) calls += total.count;
    CHECK(calls == sum.calls);
    CHECK(std::accumulate(path.durations.begin(), path.durations.end(), uint64_t{0}) == sum.ended);
    for (size_t device = 0; device < kDeviceCount; ++device) {
      Memory memory = device == 0 ? memory_of(path.host) : Memory{};
      for (const ScopeTally& tally : path.devices) {
        if (tally.device == kDevices[device]) memory = memory_of(tally);
      }
      CHECK(memory == sum.memory[device]);
    }
  }
}

struct Mix {
  uint64_t begins, ends, moves, foreign;  // of 100; the rest is memory
  bool has_ranges = false;                // of NVTX's kinds, too
};

void play(uint32_t seed, size_t threads, const Mix& mix, size_t events) {
  std::mt19937_64 random(seed);
  const auto below = [&random](uint64_t most) { return random() % most; };
  ScopeBook book;
  Model model(threads);
  std::vector<uint32_t> stacks(threads);
  std::vector<uint64_t> gone = {12345};  // ids that are not open any more, and one that never was
  uint64_t now = 1'000'000, next_id = 1, unmatched = 0;
  for (size_t i = 0; i < events; ++i) {
    const uint64_t step = below(4) == 0 ? 0 : below(1000);
    now += step;
    model.advance(step);
    const size_t thread = below(threads);
    uint32_t& stack = stacks[thread];
    const uint64_t choice = below(100);
    const std::vector<uint64_t> open = model.ids();
    const uint64_t some = open.empty() || below(10) == 0 ? gone[below(gone.size())] : open[below(open.size())];
    if (choice < mix.begins) {
      const uint32_t name = static_cast<uint32_t>(1 + below(3));
      const uint64_t id = below(4096) << wire::kScopeCountBits | next_id++;
      if (open.size() > 40) continue;
      if (mix.has_ranges && below(5) == 0) {
        book.begin_apart(name, id, now);
        model.begin_apart(name, id);
        continue;
      }
      stack = book.begin(stack, name, id, now);
      model.begin(thread, name, id);
    } else if (choice < mix.begins + mix.ends) {
      if (below(3) == 0) book.add_items(stack, some, 5), model.add_items(some, 5);
      if (mix.has_ranges && below(3) != 0) {
        const uint64_t id = below(20) == 0 ? 0 : some;
        stack = book.end_only(stack, id, now);
        if (!model.end_only(id)) ++unmatched;
        if (id != 0) gone.push_back(id);
        continue;
      }
      stack = book.end(stack, some, now);
      model.end(some);
      gone.push_back(some);
    } else if (choice < mix.begins + mix.ends + mix.moves) {
      if (below(2) == 0) {
        stack = book.leave(stack, some, now);
        model.leave(thread, some);
      } else {
        stack = book.enter(stack, some, now);
        model.enter(thread, some);
      }
    } else if (choice < mix.begins + mix.ends + mix.moves + mix.foreign) {
      book.end_all(stack, now);  // the thread is gone; the next one of this place is in no scope
      stack = 0;
      model.end_all(thread);
    } else {
      if (stack == 0) continue;
      const size_t device = below(kDeviceCount);
      const uint64_t size_bytes = below(5000);
      const bool is_end = below(2) == 0;
      const Amount none{}, amount{size_bytes, 1};
      if (device != 0) {
        const Amount freed = is_end ? amount : none, allocated = !is_end || below(4) == 0 ? Amount{77, 1} : none;
        book.change(stack, kDevices[device], allocated, freed);
        model.change(thread, device, allocated, freed);
      } else if (is_end) {
        book.free(stack, {size_bytes, 1});
        model.change(thread, 0, none, amount);
      } else {
        book.allocate(stack, {size_bytes, 1});
        model.change(thread, 0, amount, none);
      }
      if (Sum* sum = model.innermost(thread); sum != nullptr && below(5) == 0) {
        book.launch_kernels(stack, 3);
        sum->launches += 3;
        book.call(stack, wire::DeviceCall::kSet, 5, 6);
        ++sum->calls;
      }
    }
  }
  book.finish(now);
  model.finish();
  compare(book, model);
  CHECK(book.lost() == 0);
  CHECK(book.unmatched_ends() == unmatched);
}

const ScopePath& only(const ScopeBook& book, uint32_t name) {
  const auto at = std::find_if(book.paths().begin() + 1, book.paths().end(),
                               [name](const ScopePath& path) { return path.name == name; });
  REQUIRE(at != book.paths().end());
  return *at;
}

}  // namespace

TEST_CASE("scopes that end inside out are as in the model") {
  const uint32_t seed = GENERATE(range(1u, 9u));
  play(seed, GENERATE(1u, 3u), {20, 20, 0, 0}, 4000);
}

TEST_CASE("scopes that are left, entered and ended by anybody, on threads that come and go, are as in the model") {
  const uint32_t seed = GENERATE(range(100u, 140u));
  play(seed, 1 + seed % 5, {20, 10, 20, 3}, 4000);
}

TEST_CASE("scopes that end alone, and scopes apart, are as in the model among all others") {
  const uint32_t seed = GENERATE(range(300u, 340u));
  play(seed, 1 + seed % 5, {24, 18, 12, 2, true}, 4000);
}

TEST_CASE("where nearly every end is missing the books are as in the model") {
  play(GENERATE(range(200u, 205u)), 4, {30, 1, 3, 4}, 4000);
}

TEST_CASE("a scope whose clock nobody could read has no time, and its outer one has") {
  ScopeBook book;
  uint32_t stack = book.begin(0, 1, 11, 100);
  stack = book.begin(stack, 2, 12, 0);
  stack = book.end(stack, 12, 120);
  stack = book.begin(stack, 2, 13, 130);
  stack = book.end(stack, 13, 0);
  stack = book.begin(stack, 2, 14, 140);
  stack = book.end(stack, 14, 147);
  stack = book.end(stack, 11, 200);
  CHECK(stack == 0);
  const ScopePath& inner = only(book, 2);
  CHECK(inner.ended == 3);
  CHECK(inner.untimed == 2);
  CHECK(inner.ticks == 7);
  CHECK(inner.shortest_ticks == 7);
  CHECK(inner.longest_ticks == 7);
  CHECK(only(book, 1).ticks == 100);
}

TEST_CASE("a clock that goes back takes no time away") {
  ScopeBook book;
  uint32_t stack = book.begin(0, 1, 11, 1000);
  stack = book.begin(stack, 2, 12, 1100);
  stack = book.end(stack, 12, 900);
  stack = book.leave(stack, 11, 1050);
  stack = book.enter(stack, 11, 500);
  stack = book.end(stack, 11, 400);
  CHECK(only(book, 2).ticks == 0);
  CHECK(only(book, 1).ticks == 50);
  CHECK(only(book, 1).own_ticks == 50);
}

TEST_CASE("one id twice, which no agent gives out, spoils no sum") {
  ScopeBook book;
  uint32_t stack = 0;
  for (int i = 0; i < 50; ++i) {
    stack = book.begin(stack, 1, 7, 100);
    stack = book.leave(stack, 7, 110);
  }
  for (int i = 0; i < 50; ++i) stack = book.begin(stack, 2, 8, 100);
  book.allocate(stack, {10, 1});
  book.end(0, 999, 100);  // from here on places are known
  for (int i = 0; i < 200; ++i) {
    stack = book.end(stack, i % 2 == 0 ? 7 : 8, 200);
    stack = book.enter(stack, 7, 210);
  }
  book.end_all(stack, 300);
  book.finish(300);
  uint64_t begun = 0, closed = 0, bytes = 0;
  for (const ScopePath& path : book.paths()) {
    begun += path.begun;
    closed += path.ended + path.left_open;
    bytes += path.host.allocated.bytes;
  }
  CHECK(begun == 100);
  CHECK(closed == 100);
  CHECK(bytes == 10);
}

}  // namespace heapprof::cli
