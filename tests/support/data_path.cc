// tests/support/data_path.cc: the only file of the tests that is compiled with the path of the source.
#include "tests/support/data_path.h"

namespace heapprof::test {

std::string data_path(const std::string& below) { return HEAPPROF_TEST_DATA + below; }

}  // namespace heapprof::test
