// tests/targets/loader/plugins/plugin.cc: a library with one allocating function, built several times under different
// names.
#include "../../keep.h"

extern "C" __attribute__((visibility("default"))) KEEP_FRAME void* PLUGIN_FUNCTION(size_t size_bytes) {
  return keep(malloc(size_bytes));
}
