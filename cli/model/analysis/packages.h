// cli/model/analysis/packages.h: whose code asked for a program's memory: sums by package, or by library.
//
// In a Python program a block is of the package whose frame is the nearest to the allocation, of Python or of an object
// that came with the package: of numpy's, what numpy.core._multiarray_umath asks for in a call of the user's. What no
// package asked for is the user's own code's, the standard library's, or the interpreter's.
// In another program a block is of the library whose frame is the nearest to the allocation
// (cli/model/analysis/library_code.h), unless a frame of the program's own is nearer. The standard library, the
// allocator and the runtime say nothing: what they allocate is for their caller.
//
// Guarantees
//  - Each site is in exactly one package: the sums over packages are the device's totals.
#pragma once

#include "cli/model/analysis/places.h"
#include "cli/model/profile/profile.h"

#include <string>
#include <string_view>
#include <vector>

namespace heapprof::cli {

inline constexpr std::string_view kOwnCode = "(your code)";
inline constexpr std::string_view kStandardLibrary = "(standard library)";
inline constexpr std::string_view kInterpreterItself = "(interpreter)";
inline constexpr std::string_view kOtherCode = "(others)";  // of stacks without Python: threads of libraries

struct Package {
  std::string name;
  PlaceNumbers numbers;
};

// The largest by the metric first; those that have none of it last. Empty if all is of one, and for other tools' files.
std::vector<Package> find_packages(const Profile& profile, const PlaceTree& tree, const Device& device, Metric metric);

}  // namespace heapprof::cli
