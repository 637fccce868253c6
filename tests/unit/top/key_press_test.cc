// tests/unit/top/key_press_test.cc: keys of terminals, in pieces, and bytes that are none.
#include "cli/top/key_press.h"

#include <catch2/catch.hpp>

using namespace heapprof::cli;

namespace {

std::vector<PressedKey> keys_of(std::string bytes) {
  std::vector<PressedKey> keys;
  for (const KeyPress& press : take_keys(&bytes)) keys.push_back(press.key);
  return keys;
}

}  // namespace

TEST_CASE("letters, arrows and pages are keys") {
  CHECK(keys_of("q\x1b[A\x1b[B\x1bOA\x1b[5~\x1b[6~\x1b[H\x1b[F") ==
        std::vector{PressedKey::kText, PressedKey::kUp, PressedKey::kDown, PressedKey::kUp, PressedKey::kPageUp,
                    PressedKey::kPageDown, PressedKey::kHome, PressedKey::kEnd});
  CHECK(keys_of("\r\x7f\x08") == std::vector{PressedKey::kEnter, PressedKey::kBackspace, PressedKey::kBackspace});
}

TEST_CASE("an escape alone is the key of that name, one that begins a sequence waits for the rest") {
  CHECK(keys_of("\x1b") == std::vector{PressedKey::kEscape});
  CHECK(keys_of("\x1b\x1b") == std::vector{PressedKey::kEscape, PressedKey::kEscape});
  std::string bytes = "\x1b[";
  CHECK(take_keys(&bytes).empty());
  CHECK(bytes == "\x1b[");
  bytes += "A";
  CHECK(take_keys(&bytes) == std::vector{KeyPress{PressedKey::kUp, ""}});
  CHECK(bytes.empty());
}

TEST_CASE("characters come whole") {
  std::string bytes = "\xc3";
  CHECK(take_keys(&bytes).empty());
  bytes += "\xbc";
  CHECK(take_keys(&bytes) == std::vector{KeyPress{PressedKey::kText, "ü"}});
}

TEST_CASE("what is no key is left out") {
  CHECK(keys_of(std::string("\x00\x01\xff\x80\x1b[200~\x1b[999;999Xa", 21)) == std::vector{PressedKey::kText});
  CHECK(keys_of("\x1b[" + std::string(100, '1') + "q").size() <= 100);
}
