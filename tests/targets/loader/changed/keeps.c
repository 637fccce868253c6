// tests/targets/loader/changed/keeps.c: keeps 13 blocks of 1235 bytes, as a part of a program or as a library.
#include <stdlib.h>

#ifdef EXPORTS /* many names, so that tables are large and the linker chooses where they go */
// clang-format off
#define ONE(n) __attribute__((visibility("default"))) int exported_##n(int x) { return x + 0x##n; }
#define TEN(n) ONE(n##0) ONE(n##1) ONE(n##2) ONE(n##3) ONE(n##4) ONE(n##5) ONE(n##6) ONE(n##7) ONE(n##8) ONE(n##9)
TEN(a) TEN(b) TEN(c) TEN(d) TEN(e) TEN(f) TEN(1) TEN(2) TEN(3)
// clang-format on
#endif

    void* kept[13];
void* (*const volatile allocate)(size_t) = malloc; /* a slot in data */
__attribute__((visibility("default"), noinline)) void keep(void) {
  for (int i = 0; i < 13; ++i) kept[i] = i % 2 == 0 ? malloc(1235) : allocate(1235);
}
