/* tests/targets/exit_code.c: returns its argument. usage: exit_code N */
#include <stdlib.h>

int main(int argc, char** argv) { return argc == 2 ? atoi(argv[1]) : 98; }
