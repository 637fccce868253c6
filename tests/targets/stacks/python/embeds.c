// tests/targets/stacks/python/embeds.c: a program that has no Python until it loads one, and none when it has unloaded
// it.
// usage: embeds LIBRARY CODE TIMES     prints for each time whether the library is "gone" at the end
#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>

// 100 blocks of 777 bytes, under a stack without Python.
__attribute__((noinline)) static void allocate_without(void) {
  for (int i = 0; i < 100; ++i) {
    void* const block = malloc(777);
    __asm__ volatile("" : : "r"(block) : "memory");
    free(block);
  }
}

__attribute__((noinline)) static int run_once(const char* path, const char* code) {
  void* const library = dlopen(path, RTLD_NOW | RTLD_LOCAL);
  if (library == NULL) {
    fprintf(stderr, "%s\n", dlerror());
    return 3;
  }
  void (*initialize)(void) = (void (*)(void))dlsym(library, "Py_Initialize");
  int (*run)(const char*, void*) = (int (*)(const char*, void*))dlsym(library, "PyRun_SimpleStringFlags");
  int (*finalize)(void) = (int (*)(void))dlsym(library, "Py_FinalizeEx");
  initialize();
  const int status = run(code, NULL);
  finalize();
  dlclose(library);
  return status == 0 ? 0 : 1;
}

int main(int count, char** words) {
  if (count != 4) return 2;
  for (int left = atoi(words[3]); left > 0; --left) {
    const int status = run_once(words[1], words[2]);
    if (status != 0) return status;
    allocate_without();
    puts(dlopen(words[1], RTLD_NOW | RTLD_NOLOAD) == NULL ? "gone" : "stays");
  }
  return 0;
}
