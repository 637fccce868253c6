// tests/targets/loader/plugins/thread_local.cc: a library whose thread-local storage is allocated at the first touch.
static thread_local volatile int g_values[300];

extern "C" [[gnu::visibility("default")]] int touch_thread_local() {
  const int before = g_values[7];
  g_values[7] = before + 1;
  return before;
}
