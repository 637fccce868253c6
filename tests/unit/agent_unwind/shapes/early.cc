// tests/unit/agent_unwind/shapes/early.cc: a library whose constructor runs before main, called by the loader's own
// code.
extern "C" void probe_early();

extern "C" [[gnu::visibility("default")]] void early_anchor() {}

namespace {
[[gnu::constructor]] void start_early() {
  probe_early();
  asm volatile("" ::: "memory");
}
}  // namespace
