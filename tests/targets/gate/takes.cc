// tests/targets/gate/takes.cc: takes BLOCKS (of its environment) blocks of 1000 bytes, and leaves them: each run takes
// what it is told.
#include <cstdlib>

__attribute__((noinline)) void take(int blocks) {
  for (int i = 0; i < blocks; ++i) {
    char* volatile block = static_cast<char*>(std::malloc(1000));
    block[0] = 1;
  }
}

int main() { take(std::atoi(std::getenv("BLOCKS"))); }
