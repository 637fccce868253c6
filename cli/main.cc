// cli/main.cc: the command line tool.
#include "cli/base/output.h"
#include "cli/command_list.h"

#include <string>
#include <vector>

int main(int argc, char** argv) {
  heapprof::cli::keep_standard_descriptors();
  return heapprof::cli::heapprof_main(std::vector<std::string>(argv + (argc > 0 ? 1 : 0), argv + argc));
}
