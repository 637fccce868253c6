// tests/targets/stacks/python/embeds.c: a program that has no Python until it loads one. usage: embeds LIBRARY CODE
#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>

int main(int count, char** words) {
  if (count != 3) return 2;
  void* const before = malloc(1235);
  void* const library = dlopen(words[1], RTLD_NOW | RTLD_LOCAL);
  if (library == NULL) {
    fprintf(stderr, "%s\n", dlerror());
    return 3;
  }
  void (*initialize)(void) = (void (*)(void))dlsym(library, "Py_Initialize");
  int (*run)(const char*, void*) = (int (*)(const char*, void*))dlsym(library, "PyRun_SimpleStringFlags");
  int (*finalize)(void) = (int (*)(void))dlsym(library, "Py_FinalizeEx");
  initialize();
  const int status = run(words[2], NULL);
  finalize();
  free(before);
  return status == 0 ? 0 : 1;
}
