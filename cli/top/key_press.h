// cli/top/key_press.h: finds the keys in the bytes that a terminal sends.
//
// Trust:    the bytes may be anything. Bytes of unknown keys are dropped.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace heapprof::cli {

enum class PressedKey : uint8_t { kText, kUp, kDown, kPageUp, kPageDown, kHome, kEnd, kEscape, kEnter, kBackspace };

struct KeyPress {
  PressedKey key = PressedKey::kText;
  std::string text;  // of kText: one character, as UTF-8

  bool operator==(const KeyPress&) const = default;
};

// Removes the complete keys at the front of *bytes, and returns them. A single escape at the end is taken for the
// Escape key, because terminals send a sequence in one piece.
std::vector<KeyPress> take_keys(std::string* bytes);

}  // namespace heapprof::cli
