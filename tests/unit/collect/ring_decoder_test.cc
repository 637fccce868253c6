// tests/unit/collect/ring_decoder_test.cc: every event gets the site of its own stack, in programs that work in few
// stacks, in very many, and in both by turns, while objects come and go under the same addresses.
#include "cli/collect/rings/ring_decoder.h"

#include "cli/base/sanitizers.h"
#include "tests/support/ring_builder.h"

#include <catch2/catch.hpp>

#include <algorithm>
#include <map>
#include <random>
#include <set>

namespace heapprof::cli {
namespace {

using test::append_module;
using test::RingBuilder;
using test::Stack;

constexpr uint64_t kRingBytes = 1 << 20;
constexpr uint64_t kModuleBytes = 0x10000;
constexpr uint64_t kFirstModule = 0x10000;
constexpr uint32_t kPlaces = 6;  // for objects, which come and go in them
constexpr uint32_t kLoaded = 3;  // of them, from the start

// A frame as the profile will have it, and a whole stack with whether it was cut off.
using Frame = std::pair<std::string, uint64_t>;  // build id, address in its file
using Path = std::pair<std::vector<Frame>, bool>;

struct Process {
  Process() {
    shared.tree = &tree;
    shared.modules = &modules;
    shared.threads = &threads;
    shared.max_frames = 4000;
    for (uint32_t i = 0; i < kLoaded; ++i) load(i);
  }
  // Another object comes to the i-th place.
  void load(uint32_t i) {
    ids[i] = std::string(1, static_cast<char>('a' + i)) + std::to_string(loads++);
    const uint64_t start = kFirstModule + i * kModuleBytes;
    used = append_module(table.data(), used,
                         {"/lib/" + ids[i], ids[i], start, start + kModuleBytes, start - 0x1000, generation});
    modules.read(table.data(), used);
    REQUIRE(modules.is_sound());
  }
  Path path_of(uint32_t site) const {
    Path path;
    path.second = tree.sites()[site].truncated != 0;
    for (uint32_t node = tree.sites()[site].stack; node != 0; node = tree.nodes()[node].parent) {
      const Location& location = modules.locations()[tree.nodes()[node].location];
      path.first.push_back({location.module == kNoModule ? "" : names().at(location.module), location.svma});
    }
    std::reverse(path.first.begin(), path.first.end());
    return path;
  }
  // Build ids by module, in the order in which they were announced.
  const std::vector<std::string>& names() const { return announced; }

  std::vector<unsigned char> table = std::vector<unsigned char>(wire::kModuleTableBytes);
  uint32_t used = 0;
  uint32_t generation = 0;
  uint32_t loads = 0;
  std::vector<std::string> announced;
  std::string ids[kPlaces];  // empty: nothing is there
  ModuleMap modules{"/bin/program", [this](const std::string& path, uint64_t) {
                      announced.push_back(path.substr(5));
                      return std::shared_ptr<UniqueFd>();
                    }};
  CallTree tree;
  ThreadTable threads;
  DecodeShared shared{};
};

struct Ring {
  Ring(Process* owner, uint32_t thread_id) : process(*owner), decoder(words.data(), kRingBytes, &owner->shared) {
    builder.open(thread_id, 1000);
  }
  void put(const Stack& stack, bool is_truncated) {
    if (generation != process.generation) builder.generation(process.generation);
    if (loads != process.loads) builder.reset(0);  // an agent keeps no frame that may have another meaning now
    generation = process.generation;
    loads = process.loads;
    Path path;
    path.second = is_truncated;
    for (const uint64_t pc_avma : stack) {
      const uint64_t place = (pc_avma - 1 - kFirstModule) / kModuleBytes;
      if (pc_avma <= kFirstModule || place >= kPlaces || process.ids[place].empty()) {
        path.first.push_back({"", pc_avma});
      } else {
        path.first.push_back({process.ids[place], pc_avma - (kFirstModule + place * kModuleBytes - 0x1000)});
      }
    }
    if (is_truncated) builder.truncate_next(wire::TruncationCause::kDepth);
    if (expected.size() % 7 == 6) {
      builder.realloc_begin(0x1000, 1000);
      builder.realloc_end(0x1000, 16, stack, 1000);
    } else {
      builder.malloc(0x1000, 16, stack, 1000);
    }
    expected.push_back(std::move(path));
  }
  // Decodes what was put, and compares; returns how many there were.
  size_t compare(std::map<Path, uint32_t>* sites) {
    std::vector<Event> batch(DecodeShared::kBatchEvents);
    size_t seen = 0;
    while (decoder.position() != builder.head()) {
      const size_t count = decoder.decode(builder.head(), {0, 2000}, batch);
      for (const Event& event : std::span(batch).first(count)) {
        if (event.kind() != EventKind::kMalloc && event.kind() != EventKind::kReallocEnd) continue;
        REQUIRE(event.site != 0);
        REQUIRE(process.path_of(event.site) == expected[seen]);
        const auto [at, is_new] = sites->try_emplace(expected[seen], event.site);
        REQUIRE(at->second == event.site);
        ++seen;
      }
    }
    REQUIRE(seen == expected.size());
    expected.clear();
    return seen;
  }

  Process& process;
  std::vector<uint64_t> words = std::vector<uint64_t>(kRingBytes / sizeof(uint64_t));
  RingBuilder builder{words.data(), kRingBytes, nullptr};
  RingDecoder decoder;
  uint32_t generation = 0;
  uint32_t loads = 0;
  std::vector<Path> expected;
};

// Return addresses of which few begin many stacks, as those of programs do. No frame of a deep stack recurs: it would
// be folded (stack_folder_test.cc).
Stack random_stack(std::mt19937* random, uint32_t kinds) {
  Stack stack((*random)() % 30 == 0 ? (*random)() % 2000 : (*random)() % 12);
  const bool is_deep = stack.size() > kDeepFrames;
  for (size_t i = 0; i < stack.size(); ++i) {
    const uint64_t offset = (is_deep ? i : (*random)() % kinds) * 0x10;
    const uint64_t place = (*random)() % kPlaces;
    stack[i] = (*random)() % 40 == 0 ? 0x7000'0000 + offset : kFirstModule + place * kModuleBytes + 1 + offset;
  }
  return stack;
}

TEST_CASE("every event has the site of its own stack, whether frames are known or not") {
  const uint32_t seed = GENERATE(range(1u, kIsSanitized ? 3u : 5u));
  std::mt19937 random(seed);
  Process process;
  std::vector<Ring> rings;
  rings.reserve(3);
  for (uint32_t i = 0; i < 3; ++i) rings.emplace_back(&process, 100 + i);
  std::map<Path, uint32_t> sites;
  size_t events = 0;
  for (int phase = 0; phase < 24; ++phase) {
    // Few stacks again and again, or new ones all the time, or the one with some of the other.
    const uint32_t kinds = phase % 3 == 0 ? 2 : 400;
    const auto share_new = phase % 3 == 0 ? 0u : phase % 3 == 1 ? 100u : static_cast<uint32_t>(random() % 20);
    std::vector<Stack> pool;
    for (int i = 0; i < 40; ++i) pool.push_back(random_stack(&random, kinds));
    for (int step = 0; step < 20; ++step) {
      Ring& ring = rings[random() % rings.size()];
      const int count = 1 + static_cast<int>(random() % 300);
      for (int i = 0; i < count; ++i) {
        const bool is_new = random() % 100 < share_new;
        ring.put(is_new ? random_stack(&random, kinds) : pool[random() % pool.size()], random() % 50 == 0);
        if (random() % 300 != 0) continue;
        // Where an object is unloaded, and another comes in its place, time goes on; where nothing was it does not.
        const auto place = static_cast<uint32_t>(random() % kPlaces);
        if (!process.ids[place].empty()) ++process.generation;
        if (process.ids[place].empty()) events += ring.compare(&sites);
        process.load(place);
      }
      // What others wrote before they noticed is of the generation before.
      for (Ring& other : rings) events += other.compare(&sites);
    }
  }
  std::set<uint32_t> distinct;
  for (const auto& [path, site] : sites) REQUIRE(distinct.insert(site).second);
  CHECK(process.shared.corrupt_records == 0);
  CHECK(events > 50'000);
  for (size_t node = 1; node < process.tree.nodes().size(); ++node) REQUIRE(process.tree.nodes()[node].parent < node);
}

}  // namespace
}  // namespace heapprof::cli
