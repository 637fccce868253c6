// tests/support/nasty_profile.h: profiles whose names would break a format that is written without care, and what their
// stacks sum to.
#pragma once

#include "cli/base/text.h"
#include "cli/model/analysis/label_tree.h"
#include "cli/model/profile/canonical.h"
#include "cli/model/profile/frame_text.h"
#include "cli/model/profile/node_table.h"
#include "cli/model/profile/profile.h"

#include <algorithm>
#include <cstdint>
#include <map>
#include <random>
#include <string>
#include <vector>

namespace heapprof::test {

using namespace heapprof::cli;  // NOLINT(google-build-using-namespace)

inline std::string nasty_name(std::mt19937_64* random) {
  static const std::vector<std::string> pieces = {
      ";",  "\n", "\"",    "'",    "\\", " ", "1",  "\xff",         "\xc3\xa9",
      "<",  "\t", "{",     "]",    ",",  "#", "%s", "\xe2\x80\xae", std::string(1, '\0'),
      "::", "f",  "\x1b[", "\x7f", "(",  ")", "\r", "\xed\xa0\x80"};
  std::string name;
  for (size_t length = (*random)() % 8; length > 0; --length) name += pieces[(*random)() % pieces.size()];
  return name;
}

// Random names, shared prefixes, inlined frames, a stack of 20,000 frames, sites without a stack, numbers near 2^53,
// two devices. `is_canonical`: as readers give profiles; else names are as raw as they can be.
inline Profile nasty_profile(uint64_t seed, bool is_canonical) {
  std::mt19937_64 random(seed);
  Profile profile;
  profile.run.command = {nasty_name(&random), nasty_name(&random)};
  profile.run.executable = "/bin/second";
  profile.modules = {{"/lib/" + nasty_name(&random), nasty_name(&random)}, {"/bin/second", "abba"}};
  for (uint32_t i = 0; i < 60; ++i) {
    Frame frame;
    frame.svma = random() % 7 == 0 ? random() : random() % 4096 * 16;
    frame.function = random() % 5 == 0 ? "" : nasty_name(&random);
    if (random() % 2 == 0) {
      frame.file = nasty_name(&random);
      frame.line = static_cast<uint32_t>(random());
    }
    frame.module = random() % 5 == 0 ? kNoModule : static_cast<uint32_t>(random() % 2);
    profile.frames.push_back(frame);
    if (random() % 3 != 0) continue;
    frame.inlined = true;  // at the same address: it reads as inlined into the one before
    frame.function = nasty_name(&random) + "i";
    profile.frames.push_back(frame);
  }
  NodeTable table(&profile.nodes);
  for (const char* name : {"host", "cuda:0"}) {
    Device& device = profile.devices.emplace_back();
    device.name = name;
    for (uint32_t i = 0; i < 200; ++i) {
      Site site;
      const size_t depth = i == 7 ? 20'000 : random() % 12;
      for (size_t at = 0; at < depth; ++at) {
        const auto frame = static_cast<uint32_t>(random() % profile.frames.size());
        const bool has_inlined = frame + 1 < profile.frames.size() && profile.frames[frame + 1].inlined;
        site.node = table.intern(site.node, profile.frames[frame].inlined ? frame - 1 : frame);
        if (has_inlined && random() % 2 == 0) site.node = table.intern(site.node, frame + 1);
      }
      SizedNumbers& n = site.numbers;
      n.total_bytes = i == 9 ? uint64_t{1} << 52 : random() % 100'000;
      n.total_blocks = 1 + random() % 50;
      n.peak_bytes = n.max_bytes = random() % 3 == 0 ? 0 : n.total_bytes / 2;
      n.peak_blocks = n.max_blocks = n.peak_bytes == 0 ? 0 : 1;
      n.leaked_bytes = random() % 3 == 0 ? n.peak_bytes : 0;
      n.leaked_blocks = n.leaked_bytes == 0 ? 0 : 1;
      n.temporary_blocks = random() % (n.total_blocks + 1);
      device.sites.push_back(site);
    }
  }
  if (is_canonical) canonicalize(&profile);
  return profile;
}

using StackSums = std::map<std::vector<std::string>, uint64_t>;

// By the names of the frames as text, outermost first; "[no stack]" for sites without one. Only what is above 0. Plain,
// and sharing no code with the writers but the names.
inline StackSums stack_sums(const Profile& profile, const Device& device, Metric metric) {
  StackSums sums;
  for (const Site& site : device.sites) {
    PlaceNumbers numbers;
    numbers.add(site);
    if (numbers.metric(metric) == 0) continue;
    std::vector<std::string> names;
    for (uint32_t node = site.node; node != 0; node = profile.nodes[node].parent)
      names.push_back(escape_controls(frame_label(profile, profile.frames[profile.nodes[node].frame])));
    std::reverse(names.begin(), names.end());
    if (names.empty()) names.emplace_back(kNoStackText);
    sums[names] += numbers.metric(metric);
  }
  return sums;
}

}  // namespace heapprof::test
