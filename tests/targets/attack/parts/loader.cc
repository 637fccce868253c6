// tests/targets/attack/parts/loader.cc: libraries that come, go, and take each other's place, in the program's
// namespace and in others.
#include "../../keep.h"
#include "action.h"

#include <dlfcn.h>
#include <link.h>
#include <sched.h>
#include <stdio.h>

namespace attack {

pthread_mutex_t g_loader = PTHREAD_MUTEX_INITIALIZER;

namespace {
using Entry = void* (*)(void* (*allocate)(uint32_t, size_t), uint32_t site, size_t size);

struct Plugin {
  void* handle;
  Entry entry;
  uint32_t site;
};

Plugin load(uint32_t number, bool in_namespace) {
  char path[600];
  snprintf(path, sizeof(path), "%s/attack_plugin_%u.so", g_start.folder, number);
  pthread_mutex_lock(&g_loader);
  void* handle = in_namespace ? dlmopen(LM_ID_NEWLM, path, RTLD_NOW) : dlopen(path, RTLD_NOW | RTLD_LOCAL);
  pthread_mutex_unlock(&g_loader);
  Plugin plugin = {handle, nullptr, kFirstPlugin + number};
  if (handle != nullptr) plugin.entry = reinterpret_cast<Entry>(dlsym(handle, "plugin_entry"));
  return plugin;
}
void unload(Plugin& plugin) {
  pthread_mutex_lock(&g_loader);
  dlclose(plugin.handle);
  pthread_mutex_unlock(&g_loader);
}
KEEP_FRAME void use(Context& context, const Plugin& plugin, unsigned amount) {
  for (unsigned i = 0; i < amount; ++i) {
    void* block = plugin.entry(allocate_for_plugin, plugin.site, any_size(context.random));
    if (context.random.below(4) != 0) release(block);
  }
}
}  // namespace

long act_plugin(Context& context, unsigned amount) {
  Plugin plugin = load(context.random.below(kPlugins), false);
  if (plugin.entry == nullptr) return -1;
  use(context, plugin, amount);
  unload(plugin);
  return 0;
}

long act_replace(Context& context, unsigned amount) {
  const uint32_t first = context.random.below(kPlugins);
  for (unsigned i = 0; i < amount; ++i) {
    Plugin plugin = load((first + i) % kPlugins, false);
    if (plugin.entry == nullptr) return -1;
    use(context, plugin, 6);
    unload(plugin);
  }
  return 0;
}

// One thread uses what another puts in place: what the user's last stack held has become another function, and nothing
// in between was allocated by the user.
namespace {
struct Exchanger {
  std::atomic<unsigned> round{0}, done{0};
  unsigned rounds = 0;
  uint32_t first = 0;
  Plugin plugin = {};
};
void wait_until(const std::atomic<unsigned>& value, unsigned wanted) {
  while (value.load() != wanted) sched_yield();
}
void* exchange_plugins(void* argument) {
  auto* exchanger = static_cast<Exchanger*>(argument);
  for (unsigned i = 0; i < exchanger->rounds; ++i) {
    wait_until(exchanger->round, i + 1);
    if (exchanger->plugin.handle != nullptr) unload(exchanger->plugin);
    exchanger->plugin = load((exchanger->first + i) % kPlugins, false);
    exchanger->done = i + 1;
  }
  return nullptr;
}
}  // namespace
long act_replace_elsewhere(Context& context, unsigned amount) {
  Exchanger exchanger;
  exchanger.rounds = amount;
  exchanger.first = context.random.below(kPlugins);
  pthread_t thread;
  if (pthread_create(&thread, nullptr, exchange_plugins, &exchanger) != 0) return -1;
  void* blocks[8];
  long result = 0;
  for (unsigned i = 0; i < amount; ++i) {
    exchanger.round = i + 1;
    wait_until(exchanger.done, i + 1);
    const Plugin& plugin = exchanger.plugin;
    if (plugin.entry == nullptr) {
      result = -2;
      continue;
    }
    for (void*& block : blocks) block = plugin.entry(allocate_for_plugin, plugin.site, any_size(context.random));
    for (unsigned j = 0; j + 1 < 8 && i % 2 != 0; ++j) release(blocks[j]);
  }
  pthread_join(thread, nullptr);
  if (exchanger.plugin.handle != nullptr) unload(exchanger.plugin);
  return result;
}

long act_keep_plugin(Context& context, unsigned amount) {
  Plugin plugin = load(context.random.below(kPlugins), false);
  if (plugin.entry == nullptr) return -1;
  use(context, plugin, amount);
  return 0;
}

long act_namespace(Context& context, unsigned amount) {
  // The loader has 16 namespaces; one at a time.
  static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
  pthread_mutex_lock(&lock);
  long result = 0;
  for (unsigned i = 0; i < amount && result == 0; ++i) {
    Plugin plugin = load(context.random.below(kPlugins), true);
    if (plugin.entry == nullptr) {
      result = -1;
      break;
    }
    use(context, plugin, 6);
    unload(plugin);
  }
  pthread_mutex_unlock(&lock);
  return result;
}

static int look(dl_phdr_info*, size_t, void* context) {
  for (int i = 0; i < 2; ++i) release(take(kSite_walking, any_size(static_cast<Context*>(context)->random)));
  release(take(kSite_new_a, any_size(static_cast<Context*>(context)->random)));
  return 0;
}
long act_walk_loader(Context& context, unsigned amount) {
  // Which libraries are there is other threads' business: it does not decide what is drawn next.
  const Random before = context.random;
  for (unsigned i = 0; i < amount; ++i) dl_iterate_phdr(look, &context);
  context.random = before;
  return 0;
}

}  // namespace attack
