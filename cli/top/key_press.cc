// cli/top/key_press.cc: a key sequence is an escape, "[" or "O", parameters, and a letter or "~" that ends it.
#include "cli/top/key_press.h"

#include <array>
#include <optional>
#include <string_view>
#include <utility>

namespace heapprof::cli {

namespace {

constexpr size_t kLongestSequence = 32;

std::optional<PressedKey> key_of(std::string_view sequence) {
  static constexpr std::array<std::pair<std::string_view, PressedKey>, 14> kSequences = {
      {{"[A", PressedKey::kUp},
       {"OA", PressedKey::kUp},
       {"[B", PressedKey::kDown},
       {"OB", PressedKey::kDown},
       {"[5~", PressedKey::kPageUp},
       {"[6~", PressedKey::kPageDown},
       {"[H", PressedKey::kHome},
       {"OH", PressedKey::kHome},
       {"[1~", PressedKey::kHome},
       {"[7~", PressedKey::kHome},
       {"[F", PressedKey::kEnd},
       {"OF", PressedKey::kEnd},
       {"[4~", PressedKey::kEnd},
       {"[8~", PressedKey::kEnd}}};
  for (const auto& [known, key] : kSequences) {
    if (known == sequence) return key;
  }
  return std::nullopt;
}

// The length of a UTF-8 character, by its first byte; 0: no character begins with this byte.
size_t character_bytes(unsigned char first) {
  if (first < 0x80) return 1;
  if (first < 0xc2 || first > 0xf4) return 0;
  return first < 0xe0 ? 2 : first < 0xf0 ? 3 : 4;
}

// The length of the sequence after an escape; 0: the sequence is incomplete.
size_t sequence_bytes(std::string_view bytes) {
  if (bytes[0] != '[' && bytes[0] != 'O') return 1;  // a key with Alt
  for (size_t i = 1; i < bytes.size(); ++i) {
    if (bytes[i] >= 0x40 && bytes[i] <= 0x7e) return i + 1;
    if (i == kLongestSequence) return i + 1;
  }
  return 0;
}

}  // namespace

std::vector<KeyPress> take_keys(std::string* bytes) {
  std::vector<KeyPress> keys;
  std::string_view rest = *bytes;
  while (!rest.empty()) {
    const auto first = static_cast<unsigned char>(rest[0]);
    if (first == 0x1b) {
      if (rest.size() == 1 || rest[1] == 0x1b) {
        keys.push_back({PressedKey::kEscape, ""});
        rest.remove_prefix(1);
        continue;
      }
      const size_t size = sequence_bytes(rest.substr(1));
      if (size == 0) break;
      if (const std::optional<PressedKey> key = key_of(rest.substr(1, size))) keys.push_back({*key, ""});
      rest.remove_prefix(1 + size);
      continue;
    }
    if (first == '\r' || first == '\n') {
      keys.push_back({PressedKey::kEnter, ""});
    } else if (first == 0x7f || first == 0x08) {
      keys.push_back({PressedKey::kBackspace, ""});
    } else if (const size_t size = character_bytes(first); size > rest.size()) {
      break;
    } else if (size > 0 && first >= 0x20) {
      keys.push_back({PressedKey::kText, std::string(rest.substr(0, size))});
      rest.remove_prefix(size);
      continue;
    }
    rest.remove_prefix(1);
  }
  *bytes = std::string(rest);
  return keys;
}

}  // namespace heapprof::cli
