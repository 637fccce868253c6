// tests/targets/loader/changed/main.c: calls keep(), and ends with as many as there are arguments.
#include <math.h>
#include <unistd.h>

void keep(void);
int main(int count, char** arguments) {
  keep();
  return write(1, "kept\n", 5) == 5 && fabs(-1.0 * count) == count && arguments[0] != 0 ? count : 99;
}
