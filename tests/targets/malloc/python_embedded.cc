// tests/targets/malloc/python_embedded.cc: a program that has Python inside: loads LIBRARY, runs SCRIPT in it, ends it,
// and does so TIMES times. An ORACLE (python/object_oracle.cc) is loaded before the first start.
// usage: python_embedded LIBRARY SCRIPT TIMES [ORACLE]
#include <dlfcn.h>

#include <cstdio>
#include <cstdlib>

namespace {

template <typename Function>
Function* look_up(void* library, const char* name) {
  auto* function = reinterpret_cast<Function*>(dlsym(library, name));
  if (function == nullptr) {
    fprintf(stderr, "%s: %s\n", name, dlerror());
    exit(2);
  }
  return function;
}

}  // namespace

int main(int argc, char** argv) {
  if (argc < 4) return 2;
  void* const library = dlopen(argv[1], RTLD_NOW | RTLD_GLOBAL);
  if (library == nullptr) {
    fprintf(stderr, "%s\n", dlerror());
    return 2;
  }
  if (argc > 4 && dlopen(argv[4], RTLD_NOW) == nullptr) {  // which finds the interpreter's functions in the library
    fprintf(stderr, "%s\n", dlerror());
    return 2;
  }
  for (int i = 0; i < atoi(argv[3]); ++i) {
    look_up<void()>(library, "Py_Initialize")();
    const int failed = look_up<int(const char*)>(library, "PyRun_SimpleString")(argv[2]);
    look_up<void()>(library, "Py_Finalize")();
    if (failed != 0) return 1;
  }
  puts("done");
  return 0;
}
