// tests/support/leak_scene.h: made-up memories in which what can be reached is searched (cli/collect/leaks).
#pragma once

#include "cli/collect/leaks/leak_marks.h"

#include <cstdint>
#include <map>
#include <span>
#include <utility>
#include <vector>

namespace heapprof::test {

using namespace heapprof::cli;  // NOLINT(google-build-using-namespace)

// A memory of words at addresses; what was not set is 0. Tables of virtual functions stand from kTables on.
class FakeMemory : public WordSource {
 public:
  static constexpr uint64_t kTables = 0x5000;

  void set(uint64_t address, uint64_t word) { words_[address] = word; }
  void visit(MemoryRange range, const Visit& visit) override {
    std::vector<uint64_t> words;
    for (uint64_t at = range.start; at < range.end; at += 8) words.push_back(words_.contains(at) ? words_[at] : 0);
    // In two pieces, as a reader may give a range.
    const size_t half = words.size() / 2;
    if (half != 0) visit(std::span(words).first(half), range.start);
    if (!words.empty()) visit(std::span(words).subspan(half), range.start + 8 * half);
  }
  bool is_vtable(uint64_t address) override { return address >= kTables && address < kTables + 0x100; }

 private:
  std::map<uint64_t, uint64_t> words_;
};

inline LeakBlock block(uint64_t start, uint64_t size_bytes, uint32_t site = 1) { return {start, size_bytes, site}; }

inline constexpr uint64_t kRoots = 0x1000;

struct MemoryScene {
  explicit MemoryScene(std::vector<LeakBlock> blocks) : table(std::move(blocks)), marks(&table, &memory) {}

  LeakKind kind_at(uint64_t address) const { return table[table.find(address)].kind; }
  void judge(bool is_libc = false) {
    marks.add_root({kRoots, kRoots + 0x100}, is_libc);
    marks.finish();
  }

  FakeMemory memory;
  BlockTable table;
  LeakMarks marks;
};

}  // namespace heapprof::test
