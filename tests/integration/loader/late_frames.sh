# A libgcc that comes later, or goes and comes again, is not told of the end of a section that it never had: it would
# end the program.
cat >frames.h <<'C'
#include <string.h>
#include <sys/mman.h>
static unsigned char section[128];
static void fill_section(void) {
  unsigned char* code = mmap(NULL, 4096, PROT_READ, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  const unsigned char common[] = {0x14, 0, 0, 0, 0, 0, 0, 0, 1, 'z', 'R', 0, 1, 0x78, 16, 1, 0, 0x0c, 7, 8, 0x90, 1, 0, 0};
  const unsigned int sizes[] = {0x24, 28};
  const unsigned long range[] = {(unsigned long)code, 8};
  memcpy(section, common, sizeof common);
  memcpy(section + 24, sizes, sizeof sizes);
  memcpy(section + 32, range, sizeof range);
}
C
cat >weak.c <<'C'
#include <dlfcn.h>
#include <stdio.h>
#include "frames.h"
extern void __register_frame(void*) __attribute__((weak));
extern void __deregister_frame(void*) __attribute__((weak));
int main(void) {
  fill_section();
  if (__register_frame) __register_frame(section);
  if (dlopen("libgcc_s.so.1", RTLD_NOW | RTLD_GLOBAL) == NULL) return 1;
  if (__deregister_frame) __deregister_frame(section);
  return puts("end") < 0;
}
C
cat >plugin.c <<'C'
#include "frames.h"
void __register_frame(void*);
void __deregister_frame(void*);
void begin(void) { fill_section(), __register_frame(section); }
void end(void) { __deregister_frame(section); }
C
cat >again.c <<'C'
#include <dlfcn.h>
#include <stdio.h>
int main(void) {
  void* libgcc = dlopen("libgcc_s.so.1", RTLD_NOW | RTLD_GLOBAL);
  void* plugin = dlopen("./plugin.so", RTLD_LAZY);
  if (libgcc == NULL || plugin == NULL) return 1;
  ((void (*)(void))dlsym(plugin, "begin"))();
  dlclose(libgcc);
  if (dlopen("libgcc_s.so.1", RTLD_NOW | RTLD_GLOBAL) == NULL) return 2;
  ((void (*)(void))dlsym(plugin, "end"))();
  return puts("end") < 0;
}
C
gcc -O1 weak.c -o weak
gcc -O1 again.c -o again
gcc -O1 -fPIC -shared plugin.c -o plugin.so
for program in weak again; do
  expect_eq "$program, alone" "$(./$program)" end
  profile ./$program
  expect_eq "$program" "$(cat out.txt)" end
done
