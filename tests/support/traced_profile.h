// tests/support/traced_profile.h: a profile with a trace of device memory, as a short run of PyTorch might leave it.
#pragma once

#include "tests/support/sample_profile.h"

namespace heapprof::test {

inline Profile traced_profile() {
  Sample sample = small_sample();
  DeviceTrace& trace = sample.recording.trace;
  trace.most_events = 10;
  trace.older_events = 3;
  trace.left_out_blocks = 1;
  trace.devices = {"cuda:0", "cuda:0/tensors", "pinned"};
  trace.scopes = {"train > step \"ä\"", "train"};
  trace.memory = {{0, 0x7f0000000000, 2 << 20, 6}, {1, 0x7f0000000000, 512, 6},    {1, 0x7f0000000400, 1024, 4},
                  {2, 0x600000, 4096, 0},          {1, UINT64_MAX, 5ull << 30, 6}, {1, 0x7f0000000000, 512, 4}};
  trace.events = {
      {1'000'000, TraceAction::kBegin, false, 0, 4711, 0}, {1'500'000, TraceAction::kBegin, false, 1, 4711, 1},
      {1'500'000, TraceAction::kBegin, false, 2, 4712, 2}, {2'000'000, TraceAction::kBegin, false, 3, 4711, 0},
      {2'000'001, TraceAction::kEnd, false, 1, 4711, 1},   {2'000'002, TraceAction::kRefuse, false, 4, 4711, 2},
      {2'000'003, TraceAction::kBegin, false, 5, 4711, 0}, {2'000'004, TraceAction::kEnd, false, 3, 4711, 0}};
  trace.live = {{0, false, true}, {5, false, false}, {2, false, false}};
  return assembled(sample);
}

}  // namespace heapprof::test
