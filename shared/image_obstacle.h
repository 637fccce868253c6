// shared/image_obstacle.h: why a program that was started cannot be profiled; the agent reports it in a wire::Note.
#pragma once

#include <cstdint>

namespace heapprof::wire {

// Why a program cannot be profiled. Numbers are part of the protocol: append only.
#define HEAPPROF_IMAGE_OBSTACLES(X)                                                        \
  X(kNone, 0, "can be profiled")                                                           \
  X(kStatic, 1, "statically linked")                                                       \
  X(kPrivileges, 2, "gains privileges: setuid, setgid or capabilities")                    \
  X(kOtherLibc, 3, "made for another C library")                                           \
  X(kOtherMachine, 4, "a program for another machine")                                     \
  X(kAgentUnreadable, 5, "cannot read the agent: another root folder or user")             \
  X(kChildCutOff, 6, "a forked child without descriptors, memory or a way to heapprof")    \
  X(kChildFiltered, 7, "a child forked under a seccomp filter")                            \
  X(kSanitizer, 8, "built with a sanitizer, which replaces malloc itself")                 \
  X(kSanitizerPreloaded, 9, "LD_PRELOAD names a sanitizer, which replaces malloc itself")  \
  X(kNoRoom, 10, "its arguments or its limit on address space leave no room for heapprof") \
  X(kUnread, 11, "its file could not be read before it was started")

enum class ImageObstacle : uint32_t {
#define X(name, number, text) name = number,
  HEAPPROF_IMAGE_OBSTACLES(X)
#undef X
};

constexpr const char* image_obstacle_text(ImageObstacle obstacle) {
  switch (obstacle) {
#define X(name, number, text) \
  case ImageObstacle::name: return text;
    HEAPPROF_IMAGE_OBSTACLES(X)
#undef X
  }
  return "for an unknown reason";
}

}  // namespace heapprof::wire
