// tests/targets/loader/replaced_plugin.cc: a plugin is replaced by another, which comes to lie at the same address,
// while the thread that calls them does nothing else: its stacks are, address by address, those that it had with the
// plugin that is gone.
//
// usage: replaced_plugin global|namespace COUNT NAME PLUGIN [NAME PLUGIN]…
// Each plugin's NAME_call has the program allocate COUNT blocks. namespace: each is loaded by dlmopen into one of its
// own. Prints "same" if the functions had one address.
#include "../keep.h"

#include <dlfcn.h>
#include <pthread.h>
#include <stdio.h>
#include <string.h>

#include <string>

namespace {

using Call = void* (*)(void* (*)(size_t), size_t);

pthread_barrier_t g_barrier;
Call g_call = nullptr;
int g_count;
int g_plugins;

KEEP_FRAME void* allocate_block(size_t size_bytes) { return keep(malloc(size_bytes)); }

void* call_plugins(void*) {
  for (int i = 0; i < g_plugins; ++i) {
    pthread_barrier_wait(&g_barrier);  // the plugin is there
    for (int j = 0; j < g_count; ++j) keep(g_call(allocate_block, 1235));
    pthread_barrier_wait(&g_barrier);  // it may be unloaded
  }
  return nullptr;
}

}  // namespace

int main(int argc, char** argv) {
  if (argc < 5) return 98;
  const bool is_own_namespace = strcmp(argv[1], "namespace") == 0;
  g_count = atoi(argv[2]);
  g_plugins = (argc - 3) / 2;
  pthread_barrier_init(&g_barrier, nullptr, 2);
  pthread_t thread;
  pthread_create(&thread, nullptr, call_plugins, nullptr);
  bool is_same = true;
  Call first = nullptr;
  for (int i = 0; i < g_plugins; ++i) {
    const char* path = argv[4 + 2 * i];
    void* plugin =
        is_own_namespace ? dlmopen(LM_ID_NEWLM, path, RTLD_NOW | RTLD_LOCAL) : dlopen(path, RTLD_NOW | RTLD_LOCAL);
    if (plugin == nullptr) return 97;
    g_call = reinterpret_cast<Call>(dlsym(plugin, (std::string(argv[3 + 2 * i]) + "_call").c_str()));
    if (g_call == nullptr) return 96;
    if (first == nullptr) first = g_call;
    is_same = is_same && first == g_call;
    pthread_barrier_wait(&g_barrier);
    pthread_barrier_wait(&g_barrier);
    if (dlclose(plugin) != 0) return 95;
  }
  pthread_join(thread, nullptr);
  puts(is_same ? "same" : "different");
  return 0;
}
