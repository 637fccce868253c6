// tests/targets/loader/reloads.cc: loads and unloads two plugins in turn, again and again, and calls each; then a
// third, which is loaded once more at the end. Prints "same" if all had one address.
//
// usage: reloads ROUNDS ALPHA BETA GAMMA
#include "../keep.h"

#include <dlfcn.h>
#include <stdio.h>

namespace {

using Call = void* (*)(void* (*)(size_t), size_t);

KEEP_FRAME void* allocate_block(size_t size_bytes) { return keep(malloc(size_bytes)); }

Call call(const char* path, const char* name, size_t size_bytes) {
  void* plugin = dlopen(path, RTLD_NOW | RTLD_LOCAL);
  if (plugin == nullptr) exit(97);
  auto function = reinterpret_cast<Call>(dlsym(plugin, name));
  if (function == nullptr) exit(96);
  free(function(allocate_block, size_bytes));
  dlclose(plugin);
  return function;
}

}  // namespace

int main(int argc, char** argv) {
  if (argc != 5) return 98;
  Call alpha = nullptr;
  Call beta = nullptr;
  for (int i = 0; i < atoi(argv[1]); ++i) {
    alpha = call(argv[2], "alpha_call", 1235);
    beta = call(argv[3], "beta_call", 1237);
  }
  const Call gamma = call(argv[4], "gamma_call", 1239);
  puts(alpha == beta && beta == gamma ? "same" : "different");
  return 0;
}
