// tests/targets/attack/plugins/plugin.cc: a library that allocates by the program's functions, needs no other, and is
// built PLUGIN times: the functions of each have other names and other frames at the same offsets, and each file is of
// the same size. Where one takes another's place at an address, what was known of the old one's frames is wrong.
#define JOIN2(a, b) a##b
#define JOIN(a, b) JOIN2(a, b)
#define NAME(what) JOIN(what, PLUGIN)

namespace {
constexpr unsigned kFrame = 256 + 64 * ((PLUGIN * 3 + 1) % 6);  // as many bytes of code for each
}

extern "C" {
using Allocate = void* (*)(unsigned site, unsigned long size);

__attribute__((noipa)) void* NAME(plugin_site_)(Allocate allocate, unsigned site, unsigned long size) {
  volatile char frame[kFrame];
  frame[size % kFrame] = 1;
  void* block = allocate(site, size);
  return frame[size % kFrame] == 1 ? block : nullptr;
}
__attribute__((noipa)) void* NAME(plugin_middle_)(Allocate allocate, unsigned site, unsigned long size) {
  volatile char frame[kFrame + 128];
  frame[size % kFrame] = 1;
  void* block = NAME(plugin_site_)(allocate, site, size);
  return frame[size % kFrame] == 1 ? block : nullptr;
}
__attribute__((noipa, visibility("default"))) void* plugin_entry(Allocate allocate, unsigned site, unsigned long size) {
  volatile char frame[kFrame + 512];
  frame[size % kFrame] = 1;
  void* block = NAME(plugin_middle_)(allocate, site, size);
  return frame[size % kFrame] == 1 ? block : nullptr;
}
}
