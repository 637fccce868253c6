// tests/unit/agent_unwind/shapes/shapes.h: a library of frames of every shape, built with many compilers and flags.
#pragma once

#include <cstdint>

extern "C" {

using Probe = void (*)();

// Calls itself and others in a random order to a random depth; probes all over. kind: see ShapesKind.
void shapes_wander(Probe probe, uint64_t seed, int rounds, int depth, unsigned kinds);
// Exactly `depth` frames of one function, then a probe.
int shapes_recurse(Probe probe, int depth);
// Spends time in arithmetic, string and library functions, to be interrupted anywhere. Returns after about `steps`
// steps.
uint64_t shapes_busy(uint64_t seed, long steps);
}

// Features that not every caller can have.
enum ShapesKind : unsigned {
  kShapesPlain = 0,
  kShapesSignals = 1,     // raise(SIGUSR1), SIGUSR2: the caller has installed handlers that call the probe
  kShapesCoroutines = 2,  // makecontext: one thread at a time
};
