// tests/unit/collect/scope_runs_test.cc: every single run through a scope is in the books as in a plain model, with its
// times, its thread, what was live before and after, what it grew by and how it ended, whatever order begins, ends,
// leaves and enters come in.
#include "cli/collect/books/scope_book.h"
#include "cli/model/profile/scopes.h"
#include "shared/scopes.h"
#include "shared/wire.h"

#include <catch2/catch.hpp>

#include <algorithm>
#include <array>
#include <random>
#include <tuple>

namespace heapprof::cli {
namespace {

constexpr uint32_t kDevices[] = {ScopeBook::kHost, wire::kMappedDevice, wire::kReservedDevice, wire::kFirstCudaDevice};
constexpr size_t kDeviceCount = std::size(kDevices);
using Live = std::array<uint64_t, kDeviceCount>;
using Names = std::vector<uint32_t>;
// Path, begin, end, active, growth, thread, flags, before, after.
using Told = std::tuple<Names, uint64_t, uint64_t, uint64_t, int64_t, uint32_t, uint32_t, Live, Live>;

struct Open {
  uint64_t id;
  Names path;
  uint64_t begin;
  uint32_t thread;
  Live before;
  uint64_t active = 0;
  int64_t growth = 0;
  uint32_t flags = 0;
};
using Frames = std::vector<Open>;

struct Model {
  explicit Model(size_t threads) : stacks(threads) {}

  std::vector<Frames> stacks;
  std::vector<Frames> left;
  Frames apart;
  Live live{};
  uint64_t now = 1'000'000;
  std::vector<Told> told;

  void advance(uint64_t ticks) {
    now += ticks;
    for (Frames& frames : stacks) {
      for (Open& open : frames) open.active += ticks;
    }
    for (Open& open : apart) open.active += ticks;
  }
  void tell(const Open& open, uint32_t flags) {
    told.emplace_back(open.path, open.begin, now, open.active, open.growth, open.thread, open.flags | flags,
                      open.before, live);
  }
  // Those behind it are left open.
  void close_from(Frames* frames, size_t depth) {
    while (frames->size() > depth) {
      tell(frames->back(), frames->size() == depth + 1 ? 0 : kInstanceLeftOpen);
      frames->pop_back();
    }
  }
  void begin(size_t thread, uint32_t name, uint64_t id) {
    Frames& frames = stacks[thread];
    Open open{id, frames.empty() ? Names{} : frames.back().path, now, static_cast<uint32_t>(thread + 1), live};
    open.path.push_back(name);
    frames.push_back(open);
  }
  void end(uint64_t id, bool alone) {
    for (size_t i = 0; i < apart.size(); ++i) {
      if (apart[i].id != id) continue;
      tell(apart[i], 0);
      apart.erase(apart.begin() + static_cast<std::ptrdiff_t>(i));
      return;
    }
    for (auto* all : {&stacks, &left}) {
      for (Frames& frames : *all) {
        for (size_t depth = 0; depth < frames.size(); ++depth) {
          if (frames[depth].id != id) continue;
          if (!alone || (all == &left && depth == 0)) return close_from(&frames, depth);
          tell(frames[depth], 0);
          frames.erase(frames.begin() + static_cast<std::ptrdiff_t>(depth));
          return;
        }
      }
    }
  }
  void leave(size_t thread, uint64_t id) {
    Frames& frames = stacks[thread];
    const auto at = std::find_if(frames.begin(), frames.end(), [id](const Open& open) { return open.id == id; });
    if (at == frames.end()) return;
    for (auto each = at; each != frames.end(); ++each) each->flags |= kInstanceLeft;
    left.emplace_back(at, frames.end());
    frames.erase(at, frames.end());
  }
  void enter(size_t thread, uint64_t id) {
    const auto at = std::find_if(left.begin(), left.end(),
                                 [id](const Frames& frames) { return !frames.empty() && frames.front().id == id; });
    if (at == left.end()) return;
    stacks[thread].insert(stacks[thread].end(), at->begin(), at->end());
    left.erase(at);
  }
  void end_thread(size_t thread) {
    while (!stacks[thread].empty()) {
      tell(stacks[thread].back(), kInstanceLeftOpen);
      stacks[thread].pop_back();
    }
  }
  void change(size_t thread, size_t device, int64_t bytes) {
    live[device] += static_cast<uint64_t>(bytes);
    if (kDevices[device] == wire::kReservedDevice) return;
    for (Open& open : stacks[thread]) open.growth += bytes;
  }
  void finish() {
    for (Open& open : apart) tell(open, kInstanceOpen);
    for (auto* all : {&stacks, &left}) {
      for (Frames& frames : *all) {
        for (Open& open : frames) tell(open, kInstanceOpen);
      }
    }
  }
  std::vector<uint64_t> ids() const {
    std::vector<uint64_t> result;
    for (const auto* all : {&stacks, &left}) {
      for (const Frames& frames : *all) {
        for (const Open& open : frames) result.push_back(open.id);
      }
    }
    for (const Open& open : apart) result.push_back(open.id);
    return result;
  }
};

std::vector<Told> told_by(const ScopeBook& book) {
  std::vector<Told> told;
  std::vector<Names> names(book.paths().size());
  for (uint32_t i = 1; i < book.paths().size(); ++i) {
    names[i] = names[book.paths()[i].parent];
    names[i].push_back(book.paths()[i].name);
    book.instances().for_each(i - 1, [&](const InstanceBook::Run& run) {
      Live before{run.host_before_bytes}, after{run.host_after_bytes};
      for (const auto& [row, live] : {std::pair{run.before, &before}, std::pair{run.after, &after}}) {
        for (const auto& [device, bytes] : book.instances().devices_live(row)) {
          const auto* const at = std::find(std::begin(kDevices), std::end(kDevices), device);
          REQUIRE(at != std::end(kDevices));
          CHECK(bytes != 0);
          (*live)[static_cast<size_t>(at - std::begin(kDevices))] = bytes;
        }
      }
      told.emplace_back(names[i], run.begin_ticks, run.end_ticks, run.active_ticks, run.growth_bytes, run.thread_id,
                        run.flags, before, after);
    });
  }
  return told;
}

void play(uint32_t seed, size_t threads) {
  std::mt19937_64 random(seed);
  const auto below = [&random](uint64_t most) { return random() % most; };
  ScopeBook book;
  Model model(threads);
  std::vector<uint32_t> stacks(threads);
  uint64_t next_id = 1;
  const auto tell_live = [&](size_t thread) {
    InstanceBook::DevicesLive live;
    for (size_t i = 1; i < kDeviceCount; ++i) {
      if (model.live[i] != 0) live.emplace_back(kDevices[i], model.live[i]);
    }
    book.set_devices_live(std::move(live));
    book.set_now(static_cast<uint32_t>(thread + 1), model.live[0]);
  };
  for (size_t i = 0; i < 3000; ++i) {
    model.advance(below(3) == 0 ? 0 : below(1000));
    const size_t thread = below(threads);
    uint32_t& stack = stacks[thread];
    const std::vector<uint64_t> open = model.ids();
    const uint64_t some = open.empty() || below(20) == 0 ? 999'999'999 : open[below(open.size())];
    tell_live(thread);
    const uint64_t choice = below(100);
    if (choice < 25) {
      const uint32_t name = static_cast<uint32_t>(1 + below(3));
      const uint64_t id = below(4096) << wire::kScopeCountBits | next_id++;
      if (open.size() > 30) continue;
      if (below(6) == 0) {
        book.begin_apart(name, id, model.now);
        model.apart.push_back(
            {id, {name}, model.now, static_cast<uint32_t>(thread + 1), model.live, 0, 0, kInstanceApart});
      } else {
        stack = book.begin(stack, name, id, model.now);
        model.begin(thread, name, id);
      }
    } else if (choice < 45) {
      const bool alone = below(2) == 0;
      stack = alone ? book.end_only(stack, some, model.now) : book.end(stack, some, model.now);
      model.end(some, alone);
    } else if (choice < 53) {
      stack = book.leave(stack, some, model.now);
      model.leave(thread, some);
    } else if (choice < 61) {
      stack = book.enter(stack, some, model.now);
      model.enter(thread, some);
    } else if (choice < 63) {
      book.end_all(stack, model.now);
      stack = 0;
      model.end_thread(thread);
    } else {
      const size_t device = below(kDeviceCount);
      const bool is_end = below(2) == 0;
      const uint64_t bytes = is_end ? below(model.live[device] + 1) : below(5000);
      if (stack != 0 && device == 0) is_end ? book.free(stack, {bytes, 1}) : book.allocate(stack, {bytes, 1});
      if (stack != 0 && device != 0)
        book.change(stack, kDevices[device], {is_end ? 0 : bytes, 1}, {is_end ? bytes : 0, 1});
      model.change(thread, device, is_end ? -static_cast<int64_t>(bytes) : static_cast<int64_t>(bytes));
    }
  }
  tell_live(0);
  model.advance(77);
  book.finish(model.now);
  model.finish();
  std::vector<Told> got = told_by(book);
  std::sort(got.begin(), got.end());
  std::sort(model.told.begin(), model.told.end());
  REQUIRE(got.size() > 300);
  CHECK(got.size() == book.begun());
  REQUIRE(got == model.told);
}

}  // namespace

TEST_CASE("single runs through scopes are as in the model") {
  const uint32_t seed = GENERATE(range(1u, 60u));
  play(seed, 1 + seed % 5);
}

TEST_CASE("a run whose clock nobody could read is none, and holds nothing") {
  ScopeBook book;
  book.set_devices_live({{wire::kFirstCudaDevice, 4096}});
  const uint64_t before = book.instances().bytes();
  for (uint64_t id = 1; id <= 100; ++id) {
    book.set_devices_live({{wire::kFirstCudaDevice, 4096 + id}});
    const uint32_t stack = book.begin(0, 1, id, 0);
    book.set_devices_live({{wire::kFirstCudaDevice, 4096 + 2 * id}});
    book.end(stack, id, 100);
  }
  book.finish(0);
  CHECK(book.instances().kept() == 0);
  CHECK(told_by(book).empty());
  CHECK(book.instances().bytes() <= before + 512);  // its path
}

}  // namespace heapprof::cli
