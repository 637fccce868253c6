// cli/model/analysis/python/paths.h: whether a Python file, or an object that Python loaded, belongs to the user, an
// installed package or the standard library.
//
// Guarantees
//  - It compares whole parts of paths: a folder called lib/python3-tools is no library of Python. A file in
//    lib/python3.11/app is the user's, because no module of the standard library has that name.
// Not provided: certainty. Packages that were copied in between a program's own files count as its own.
// Trust:    paths are untrusted: any bytes.
#pragma once

#include "cli/model/profile/profile.h"

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace heapprof::cli {

enum class PythonOrigin : uint8_t {
  kOwn,        // the user's: a script, a module, python -c, a notebook; also an editable install
  kPackage,    // in site-packages, dist-packages, a wheel or an egg; PyTorch built in any folder
  kStandard,   // of the standard library
  kImport,     // of the import machinery
  kGenerated,  // made by code, as <string> is for a named tuple; a launcher such as bin/pytest: has no owner
};

enum class ObjectOrigin : uint8_t {
  kOwn,
  kInterpreter,  // python3.11, libpython3.11.so
  kHost,         // a program with an interpreter linked in, and functions of its own
  kPackage,      // numpy/core/_multiarray_umath.so, numpy.libs/libopenblas.so
  kStandard,     // lib-dynload/_json.so
  kSystem,       // of the system, or in the interpreter's folder
};

// Whether a profile has Python frames.
bool has_python(const Profile& profile);
// Whether the frame is a Python frame, or was added for Python.
bool is_of_python(const Profile& profile, const Frame& frame);

// Functions of frames that cli/model/analysis/python/marks.h adds. No Python function has a space in its name.
inline constexpr std::string_view kImportMark = "import ";  // followed by the module
inline constexpr std::string_view kPythonStartMark = "start of Python";
bool is_python_mark(const Profile& profile, const Frame& frame);

// Whether a function of the interpreter is on the stack only while it runs Python.
bool is_evaluator_name(std::string_view function);

class PythonPaths {
 public:
  // Keeps a reference to the profile.
  explicit PythonPaths(const Profile& profile);

  PythonOrigin origin(std::string_view file) const;
  ObjectOrigin object(uint32_t module) const { return objects_[module]; }

  // The package of a file: "numpy"; the module's name for a user's file; "json" in the standard library. Empty: no
  // package.
  std::string package(std::string_view file) const;
  // The package of an object; empty: no package.
  std::string package_of_object(uint32_t module) const;
  // The file as Python's users write it: what follows site-packages, or lib/python3.11; the whole path for user files.
  std::string_view shown(std::string_view file) const;

 private:
  ObjectOrigin find_object(uint32_t module) const;
  // Where the part of the path below a folder of packages, or of the standard library, begins; npos: nowhere.
  size_t below_packages(std::string_view file) const;
  size_t below_standard(std::string_view file) const;

  const Profile& profile_;
  std::vector<std::string> torch_folders_;   // "/home/me/pytorch/", which has torch/
  std::vector<std::string> libraries_;       // "/opt/conda/lib/", next to interpreters
  std::vector<std::string_view> launchers_;  // files
  std::vector<char> runs_python_;            // by module: it has the evaluator
  std::vector<ObjectOrigin> objects_;        // by module
  bool is_string_own_ = false;               // <string> is what the user typed: python -c, or an embedded interpreter
};

}  // namespace heapprof::cli
