// tests/targets/nvtx/parts/second.cc: a library that was compiled with NVTX on its own.
#include "tests/targets/nvtx/parts/own_nvtx.h"

extern "C" {
int second_push(const char* text) { return own_nvtx::push(text); }
int second_pop() { return own_nvtx::pop(); }
int second_result() { return own_nvtx::g_own.result; }
}
