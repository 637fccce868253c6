// cli/model/analysis/packages.h: which code allocated a program's memory: sums by package, or by library.
//
// In a Python program a block belongs to the package whose frame is the nearest to the allocation: a Python frame, or
// one of an object file that came with the package. So if user code calls numpy, what numpy.core._multiarray_umath
// allocates belongs to numpy. Other blocks belong to the user's own code, the standard library, or the interpreter. In
// another program a block belongs to the library whose frame is the nearest to the allocation
// (cli/model/analysis/library_code.h), unless a frame of the program itself is nearer. The standard library, the
// allocator and the runtime do not count: they allocate for their caller.
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
inline constexpr std::string_view kOtherCode = "(others)";  // stacks without Python: threads of libraries

struct Package {
  std::string name;
  PlaceNumbers numbers;
};

// The packages, the largest by the metric first. Empty for files of other tools, and if a program without Python has
// only one package, or no library with a name.
std::vector<Package> find_packages(const Profile& profile, const PlaceTree& tree, const Device& device, Metric metric);

}  // namespace heapprof::cli
