// tests/bench/assemble.cc: what follows the program's end, on a generated recording: its stacks become a profile, which
// is written. For counts of instructions; prints how large the profile is.
//
//   bench_assemble SHAPE SITES    SHAPE: native; or python, whose frames have two code objects a function and three
//                                 instructions a line, so that different locations read alike
#include "cli/model/analysis/assemble_grouped.h"
#include "cli/write/profile/dhat.h"
#include "tests/bench/random.h"

#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <string>

namespace {

using namespace heapprof::cli;

constexpr uint32_t kFunctions = 400;
constexpr uint32_t kLines = 5;  // of a function
constexpr uint32_t kAlike = 6;  // locations of a line, in Python
constexpr uint32_t kDepth = 40;
constexpr GroupOptions kOptions{.kept_sites = 2'000, .most_rows = 400};  // so that most sites go into rows

class Generator {
 public:
  explicit Generator(bool is_python) : is_python_(is_python) {
    recording_.modules.push_back({"/usr/bin/program", "abcd", 0, nullptr});
    recording_.stacks.resize(1);
    const uint32_t alike = is_python_ ? kAlike : 1;
    for (uint32_t i = 0; i < kFunctions * kLines; ++i) {
      const uint32_t function = i / kLines;
      for (uint32_t copy = 0; copy < alike; ++copy) {
        recording_.locations.push_back({0, uint64_t{0x1000} + (i * alike + copy) * 4, false});
        symbols_.frames.push_back({{"function_" + std::to_string(function),
                                    "/home/user/program/module_" + std::to_string(function / 50) + ".cc",
                                    function % 50 * 20 + i % kLines + 1, false}});
      }
    }
  }

  void add_sites(uint32_t sites) {
    RecordedDevice& device = recording_.devices.emplace_back();
    std::vector<uint32_t> path{0};  // nodes, from the root
    for (uint32_t i = 0; i < sites; ++i) {
      for (uint64_t returns = random_.next() % 6; returns != 0 && path.size() > 2; --returns) path.pop_back();
      do {
        recording_.stacks.push_back({path.back(), static_cast<uint32_t>(random_.next() % recording_.locations.size())});
        path.push_back(static_cast<uint32_t>(recording_.stacks.size() - 1));
      } while (path.size() < kDepth && random_.next() % 4 != 0);
      RecordedSite& site = device.sites.emplace_back();
      const uint64_t bytes = 16 + random_.next() % 512;
      site.stack = path.back();
      SiteNumbers& numbers = site.numbers;
      numbers.total_bytes = numbers.max_bytes = numbers.smallest_bytes = numbers.largest_bytes = bytes;
      numbers.total_blocks = numbers.max_blocks = 1;
      if (i % 2 == 0) {
        numbers.peak_bytes = numbers.leaked_bytes = bytes;
        numbers.peak_blocks = numbers.leaked_blocks = 1;
      }
      DeviceTotals& totals = device.totals;
      totals.total_bytes += bytes;
      ++totals.total_blocks;
      totals.peak_bytes += numbers.peak_bytes;
      totals.peak_blocks += numbers.peak_blocks;
    }
    device.totals.leaked_bytes = device.totals.peak_bytes;
    device.totals.leaked_blocks = device.totals.max_blocks = device.totals.peak_blocks;
  }

  Recording* recording() { return &recording_; }
  const SymbolTable& symbols() const { return symbols_; }

 private:
  bool is_python_;
  Random random_{7};
  Recording recording_;
  SymbolTable symbols_;
};

class CountingSink : public ByteSink {
 public:
  void write(std::string_view bytes) override { count_ += bytes.size(); }
  size_t count() const { return count_; }

 private:
  size_t count_ = 0;
};

}  // namespace

int main(int argc, char** argv) {
  if (argc != 3 || (std::strcmp(argv[1], "native") != 0 && std::strcmp(argv[1], "python") != 0)) {
    std::fprintf(stderr, "usage: bench_assemble native|python SITES\n");
    return 2;
  }
  Generator generator(std::strcmp(argv[1], "python") == 0);
  generator.add_sites(static_cast<uint32_t>(std::atoi(argv[2])));
  const Profile profile = assemble_grouped(generator.recording(), generator.symbols(), kOptions);
  CountingSink sink;
  write_dhat(profile, &sink);
  std::printf("%zu sites, %zu bytes\n", profile.devices[0].sites.size(), sink.count());
}
