// tests/targets/malloc/libc_caches.cc: fills every cache of libc and libstdc++ that the built-in suppressions name, and
// leaks a little of its own: what libc hands out to be freed, and one block of 1235 bytes.
#include "../keep.h"

#include <dlfcn.h>
#include <grp.h>
#include <iconv.h>
#include <libintl.h>
#include <locale.h>
#include <mntent.h>
#include <netdb.h>
#include <pthread.h>
#include <pwd.h>
#include <shadow.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>
#include <wchar.h>

#include <cstdio>
#include <iostream>
#include <locale>
#include <string>
#include <thread>

namespace {

[[gnu::noinline]] void fill_locales() {
  freelocale(newlocale(LC_ALL_MASK, "C.UTF-8", nullptr));
  setlocale(LC_ALL, "C.UTF-8");
  std::locale::global(std::locale("C.UTF-8"));
  iconv_close(iconv_open("UTF-16", "ISO-8859-15"));
  bindtextdomain("heapprof-test", "/nonexistent");
  textdomain("heapprof-test");
  gettext("no such message");
  setenv("TZ", "Europe/Berlin", 1);
  tzset();
}

[[gnu::noinline]] void fill_streams() {
  std::cout << 1 << std::endl;
  wprintf(L"x");
  FILE* const file = fopen("/proc/self/mounts", "r");
  getmntent(file);
  fclose(file);
  FILE* const wide = fopen("/dev/null", "w");
  fwprintf(wide, L"x");
}

[[gnu::noinline]] void ask_names() {
  getpwnam("root");
  getpwuid(12345);
  getgrnam("root");
  getspnam("root");
  gethostbyname("localhost");
  getservbyname("http", "tcp");
  getprotobyname("tcp");
  getnetbyname("loopback");
  getrpcbyname("portmapper");
  addrinfo* found = nullptr;
  if (getaddrinfo("localhost", "80", nullptr, &found) == 0) freeaddrinfo(found);
}

[[gnu::noinline]] void use_threads_and_libraries() {
  std::thread([] {}).join();
  static pthread_key_t keys[100];
  for (pthread_key_t& key : keys) {
    pthread_key_create(&key, nullptr);
    pthread_setspecific(key, &key);
  }
  for (int i = 0; i < 100; ++i) atexit([] {});
  void* const library = dlopen(PLUGIN, RTLD_NOW);
  const auto touch = reinterpret_cast<int (*)()>(dlsym(library, "touch_thread_local"));
  if (touch != nullptr) touch();
  dlsym(library, "no_such_function");
  dlerror();
  dlopen("no_such_library.so", RTLD_NOW);
  strsignal(63);
  strerror(12345);
}

[[gnu::noinline]] void leak_own() {
  keep(malloc(1235));
  keep(fopen("/dev/null", "r"));
  keep(newlocale(LC_ALL_MASK, "C", nullptr));
  keep(iconv_open("UTF-16", "ISO-8859-15"));
}

// What is filled by whichever function comes first.
[[gnu::noinline]] void call_first(const std::string& function) {
  if (function == "mbrtowc") {
    setlocale(LC_ALL, "C.UTF-8");
    wchar_t wide = 0;
    mbstate_t state{};
    mbrtowc(&wide, "\xc3\xa4", 2, &state);
  }
  if (function == "localtime") {
    const time_t now = 0;
    setenv("TZ", "Europe/Berlin", 1);
    localtime(&now);
  }
}

}  // namespace

int main(int argc, char** argv) {
  if (argc > 1) call_first(argv[1]);
  fill_locales();
  fill_streams();
  ask_names();
  use_threads_and_libraries();
  leak_own();
  fflush(nullptr);
  _exit(0);
}
