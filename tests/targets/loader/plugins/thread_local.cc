// tests/targets/loader/plugins/thread_local.cc: a library whose thread-local storage is allocated at the first touch.
static thread_local volatile int g_values[300];

extern "C" [[gnu::visibility("default")]] int touch_thread_local() { return g_values[7]++; }
