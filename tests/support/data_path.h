// tests/support/data_path.h: where the files of the tests are.
#pragma once

#include <string>

namespace heapprof::test {

// The path of a file below tests/, as "/golden/report/leaky.txt". In a file of its own, so that what the other tests
// are compiled from is the same in every folder, and ccache finds it.
std::string data_path(const std::string& below);

}  // namespace heapprof::test
