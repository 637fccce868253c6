// tests/bench/tape.h: the rings of a real run, kept in a file, and played to the collector without the run.
//
// A run's time has the program's, the scheduler's and the other core's noise in it. A tape has none: the collector
// takes the same bytes in the same rounds at the same stamps, so that two of its versions differ by what they do.
//
// A tape is TapeStart, that many code objects (a TapeCode and its text, none of real runs), then for each round a
// TapeRound, that many bytes of the module table, and its parts; a part is a TapePart, that many TapeSegments, and
// their bytes one after the other. All numbers are this machine's.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace heapprof::test {

struct TapeStart {
  uint64_t magic;
  uint32_t protocol_version;
  uint32_t codes;
};
inline constexpr uint64_t kTapeMagic = 0x3165706174706168;  // "haptape1"

// A code object of Python: its text is a wire::CodeEntry and what follows that (shared/python.h).
struct TapeCode {
  uint32_t number;
  uint32_t text_bytes;
};

// What a round of the collector found.
struct TapeRound {
  uint64_t stamp;  // read before the rings were looked at
  uint32_t rings_claimed;
  uint32_t parts;
  uint32_t module_bytes;      // ever written to the table
  uint32_t new_module_bytes;  // since the round before; they follow
};

struct TapePart {
  uint64_t head;
  uint32_t ring;
  uint32_t thread_id;
  uint32_t is_shared;
  uint32_t in_event;
  uint32_t segments;
  uint32_t reserved;
};

// Where bytes lie in the ring.
struct TapeSegment {
  uint64_t ring_off;
  uint64_t bytes;
};

// Runs a program with the agent in it, writes what a collector would have read of its first process, and decodes
// nothing. Returns the program's exit code, 125 where it could not be recorded.
int record_tape(const std::string& path, const std::vector<std::string>& command);

// Writes the tape of a generated program: native, python, jit, threads or scopes. False: there is no such shape.
bool make_tape(const std::string& path, const std::string& shape, uint64_t records);

// Plays a tape and prints a line. `threads` of the collector: 1 or 2. False: it is no tape of this protocol.
bool replay_tape(const std::string& path, int repeats, int threads);

}  // namespace heapprof::test
