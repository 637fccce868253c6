// tests/targets/names/tail_calls/far.c: another file of the program.
#include "calls.h"

#include <stdlib.h>

LEAF(far)
LEFT void* left_far(int n) { return leaf_far(n + 1); }
LEFT void* far_to_back(int n) { return left_back(n + 3); }
