// tests/targets/loader/plugins/calls_back.cc: a library whose function has the caller allocate: so its frame is in the
// stack also where its own libc is another namespace's. Built several times; CALLS_BACK_PADDING makes its frame larger.
#include "../../keep.h"

extern "C" __attribute__((visibility("default"))) KEEP_FRAME void* CALLS_BACK_FUNCTION(void* (*allocate)(size_t),
                                                                                       size_t size_bytes) {
  volatile char padding[CALLS_BACK_PADDING];
  padding[0] = 1;
  padding[CALLS_BACK_PADDING - 1] = 1;
  return keep(allocate(size_bytes));
}
