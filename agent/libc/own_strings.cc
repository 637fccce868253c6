// agent/libc/own_strings.cc: the functions of <string.h> that the agent and its compiler call. They are hidden, so that
// no other library interposes them.
//
// A program may define functions of these names that do not work yet when the loader calls the agent. For example, the
// functions of a statically linked sanitizer first ask dlsym for the real ones; that call reaches the agent while the
// sanitizer does not know the real functions yet.
//
// Cost: not in the fast path.
#include "agent/arch/arch.h"

#include <stddef.h>
#include <stdint.h>

#define OWN extern "C" __attribute__((visibility("hidden"), used))

OWN void* memcpy(void* to, const void* from, size_t bytes) noexcept {
  heapprof::agent::copy_bytes(to, from, bytes);
  return to;
}
OWN void* memset(void* to, int byte, size_t bytes) noexcept {
  heapprof::agent::fill_bytes(to, byte, bytes);
  return to;
}
OWN void* memmove(void* to, const void* from, size_t bytes) noexcept {
  auto* target = static_cast<volatile char*>(to);
  const auto* source = static_cast<const volatile char*>(from);
  if (target <= source) {
    for (size_t i = 0; i < bytes; ++i) target[i] = source[i];
  } else {
    for (size_t i = bytes; i > 0; --i) target[i - 1] = source[i - 1];
  }
  return to;
}
OWN int memcmp(const void* a, const void* b, size_t bytes) noexcept {
  const auto* left = static_cast<const unsigned char*>(a);
  const auto* right = static_cast<const unsigned char*>(b);
  for (size_t i = 0; i < bytes; ++i) {
    if (left[i] != right[i]) return left[i] < right[i] ? -1 : 1;
  }
  return 0;
}
OWN void* memchr(const void* in, int byte, size_t bytes) noexcept {
  const auto* at = static_cast<const unsigned char*>(in);
  for (size_t i = 0; i < bytes; ++i) {
    if (at[i] == static_cast<unsigned char>(byte)) return const_cast<unsigned char*>(at + i);
  }
  return nullptr;
}
OWN void* memmem(const void* in, size_t bytes, const void* what, size_t what_bytes) noexcept {
  const auto* at = static_cast<const unsigned char*>(in);
  for (size_t i = 0; what_bytes <= bytes && i <= bytes - what_bytes; ++i) {
    if (memcmp(at + i, what, what_bytes) == 0) return const_cast<unsigned char*>(at + i);
  }
  return nullptr;
}
OWN size_t strnlen(const char* text, size_t most) noexcept {
  size_t length = 0;
  while (length < most && static_cast<const volatile char*>(text)[length] != '\0') ++length;
  return length;
}
OWN size_t strlen(const char* text) noexcept { return strnlen(text, SIZE_MAX); }
OWN int strncmp(const char* a, const char* b, size_t most) noexcept {
  for (size_t i = 0; i < most; ++i) {
    const auto left = static_cast<unsigned char>(a[i]);
    const auto right = static_cast<unsigned char>(b[i]);
    if (left != right) return left < right ? -1 : 1;
    if (left == '\0') break;
  }
  return 0;
}
OWN int strcmp(const char* a, const char* b) noexcept { return strncmp(a, b, SIZE_MAX); }
OWN char* strchr(const char* text, int byte) noexcept {
  for (;; ++text) {
    if (*text == static_cast<char>(byte)) return const_cast<char*>(text);
    if (*text == '\0') return nullptr;
  }
}
OWN size_t strcspn(const char* text, const char* stops) noexcept {
  size_t length = 0;
  while (text[length] != '\0' && strchr(stops, text[length]) == nullptr) ++length;
  return length;
}
OWN char* strcpy(char* to, const char* from) noexcept {
  memcpy(to, from, strlen(from) + 1);
  return to;
}
OWN char* strncpy(char* to, const char* from, size_t most) noexcept {
  const size_t length = strnlen(from, most);
  memcpy(to, from, length);
  memset(to + length, 0, most - length);
  return to;
}
