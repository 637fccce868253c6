// cli/model/analysis/python/paths.h: whose code a file of Python is, and whose an object that Python loaded: the user's
// own, a package's that was installed, the standard library's.
//
// Guarantees
//  - It goes by whole parts of paths: a folder called lib/python3-tools is no library of Python's, and what somebody
//    keeps in lib/python3.11/app is their own, as no module of the standard library has that name.
// Not provided: certainty. A program whose packages were copied in between its own files has no others.
// Trust:    paths are strangers': any bytes.
#pragma once

#include "cli/model/profile/profile.h"

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace heapprof::cli {

enum class PythonOrigin : uint8_t {
  kOwn,        // of the user's: a script, a module, python -c, a notebook; what was installed as editable, too
  kPackage,    // in site-packages, dist-packages, a wheel or an egg; PyTorch wherever it was built
  kStandard,   // of the standard library
  kImport,     // of the import machinery
  kGenerated,  // made by code, as <string> is for a named tuple; a launcher such as bin/pytest: they stand for nobody
};

enum class ObjectOrigin : uint8_t {
  kOwn,
  kInterpreter,  // python3.11, libpython3.11.so
  kHost,         // a program that has an interpreter linked in, and functions of its own
  kPackage,      // numpy/core/_multiarray_umath.so, numpy.libs/libopenblas.so
  kStandard,     // lib-dynload/_json.so
  kSystem,       // of the system, or beside the interpreter
};

// Whether a profile has frames of Python.
bool has_python(const Profile& profile);
// Whether the frame is one of Python, or one that was added for it.
bool is_of_python(const Profile& profile, const Frame& frame);

// Functions of frames that cli/model/analysis/python/marks.h adds. No function of Python has a blank in its name.
inline constexpr std::string_view kImportMark = "import ";  // and which module
inline constexpr std::string_view kPythonStartMark = "start of Python";
bool is_python_mark(const Profile& profile, const Frame& frame);

// Whether a function of an interpreter's is there only while it runs Python.
bool is_evaluator_name(std::string_view function);

class PythonPaths {
 public:
  // Keeps a reference to the profile.
  explicit PythonPaths(const Profile& profile);

  PythonOrigin origin(std::string_view file) const;
  ObjectOrigin object(uint32_t module) const { return objects_[module]; }

  // The package of a file: "numpy", of the user's own files the module's name, of the standard library's "json". Empty:
  // it has none.
  std::string package(std::string_view file) const;
  // The package of an object; empty: it is of none.
  std::string package_of_object(uint32_t module) const;
  // The file as Python's users write it: what follows site-packages, or lib/python3.11; all of it for their own.
  std::string_view shown(std::string_view file) const;

 private:
  ObjectOrigin find_object(uint32_t module) const;
  // Where the part of the path begins that is below a folder of packages, or of the standard library; npos: nowhere.
  size_t below_packages(std::string_view file) const;
  size_t below_standard(std::string_view file) const;

  const Profile& profile_;
  std::vector<std::string> torch_folders_;   // "/home/me/pytorch/", which has torch/
  std::vector<std::string> libraries_;       // "/opt/conda/lib/", beside interpreters
  std::vector<std::string_view> launchers_;  // files
  std::vector<char> runs_python_;            // by module: it has the evaluator
  std::vector<ObjectOrigin> objects_;        // by module
  bool is_string_own_ = false;               // <string> is what the user typed: python -c, or an embedded interpreter
};

}  // namespace heapprof::cli
