// shared/objects_state.h: whether the objects of a process's Python are recorded: Control::objects_state.
#pragma once

#include <cstdint>

namespace heapprof::wire {

// Whether the agent hooks Python's own allocator (--python-objects).
#define HEAPPROF_OBJECTS_STATES(X)                                                                              \
  X(kNone, 0, "no interpreter was found whose version is known")                                                \
  X(kRecorded, 1, "recorded")                                                                                   \
  X(kNoTable, 2, "the interpreter does not export PyMem_GetAllocator, PyMem_SetAllocator and Py_IsInitialized") \
  X(kRunning, 3, "the interpreter was running before it was found")                                             \
  X(kFreeThreaded, 4, "a free-threaded interpreter's objects come from an allocator that cannot be hooked")     \
  X(kTooOften, 5, "the interpreter's table of allocators was exchanged more often than can be followed")

enum class ObjectsState : uint32_t {
#define X(name, number, text) name = number,
  HEAPPROF_OBJECTS_STATES(X)
#undef X
};

// nullptr: no such state.
constexpr const char* objects_state_text(ObjectsState state) {
  switch (state) {
#define X(name, number, text) \
  case ObjectsState::name: return text;
    HEAPPROF_OBJECTS_STATES(X)
#undef X
  }
  return nullptr;
}

}  // namespace heapprof::wire
