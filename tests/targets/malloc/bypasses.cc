// tests/targets/malloc/bypasses.cc: loads plugin_alpha past the hooks as argv[1] says (deepbind, namespace, plain), and
// has it allocate; allocates 1235 bytes itself.
#include "../keep.h"

#include <dlfcn.h>
#include <stdio.h>
#include <string.h>

#include <string>

namespace {
KEEP_FRAME void allocate_1235() { keep(malloc(1235)); }
}  // namespace

int main(int argc, char** argv) {
  if (argc != 2) return 2;
  const std::string folder = std::string(argv[0]).substr(0, std::string(argv[0]).rfind('/'));
  const std::string path = folder + "/plugin_alpha.so";
  void* plugin = nullptr;
  if (strcmp(argv[1], "deepbind") == 0) plugin = dlopen(path.c_str(), RTLD_NOW | RTLD_DEEPBIND);
  if (strcmp(argv[1], "namespace") == 0) plugin = dlmopen(LM_ID_NEWLM, path.c_str(), RTLD_NOW);
  if (strcmp(argv[1], "plain") == 0) plugin = dlopen(path.c_str(), RTLD_NOW);
  if (plugin == nullptr) return 3;
  const auto allocate = reinterpret_cast<void* (*)(size_t)>(dlsym(plugin, "alpha_allocate"));
  if (allocate == nullptr) return 4;
  keep(allocate(1236));
  allocate_1235();
  return 0;
}
