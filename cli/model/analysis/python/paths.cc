// cli/model/analysis/python/paths.cc: uses the parts of paths that installers and CPython itself agree on:
// site-packages and dist-packages, lib/python3.N with a module of the standard library below it, names in angle
// brackets.
//
// The standard library is recognised by the names of its modules, those of 3.8 to 3.14: some people keep their programs
// in lib/python3.N, too, and an embedded interpreter gives no prefix.
#include "cli/model/analysis/python/paths.h"

#include "cli/base/file_name.h"
#include "cli/model/profile/python_code.h"

#include <algorithm>
#include <set>

namespace heapprof::cli {
namespace {

constexpr size_t kNowhere = std::string_view::npos;

// From sys.stdlib_module_names of this and older versions, without names that begin with _. Customization modules that
// the interpreter runs at its start count as well.
constexpr std::string_view kStandardNames =
    " "
    "abc aifc annotationlib antigravity argparse array ast asynchat asyncio asyncore atexit audioop base64 "
    "bdb binascii binhex bisect builtins bz2 cProfile calendar cgi cgitb chunk cmath cmd code codecs codeop "
    "collections colorsys compileall compression concurrent configparser contextlib contextvars copy copyreg "
    "crypt csv ctypes curses dataclasses datetime dbm decimal difflib dis distutils doctest dummy_threading "
    "email encodings ensurepip enum errno faulthandler fcntl filecmp fileinput fnmatch formatter fractions "
    "ftplib functools gc genericpath getopt getpass gettext glob graphlib grp gzip hashlib heapq hmac html "
    "http idlelib imaplib imghdr imp importlib inspect io ipaddress itertools json keyword lib-dynload "
    "lib2to3 linecache locale logging lzma macpath macurl2path mailbox mailcap marshal math mimetypes mmap "
    "modulefinder msilib multiprocessing netrc nis nntplib ntpath nturl2path numbers opcode operator "
    "optparse os ossaudiodev pathlib pdb pickle pickletools pipes pkgutil platform plistlib poplib posix "
    "posixpath pprint profile pstats pty pwd py_compile pyclbr pydoc pydoc_data pyexpat queue quopri random "
    "re readline reprlib resource rlcompleter runpy sched secrets select selectors shelve shlex shutil "
    "signal site sitecustomize smtpd smtplib sndhdr socket socketserver spwd sqlite3 sre_compile "
    "sre_constants sre_parse ssl stat statistics string stringprep struct subprocess sunau symbol symtable "
    "sys sysconfig syslog tabnanny tarfile telnetlib tempfile termios test textwrap this threading time "
    "timeit tkinter token tokenize tomllib trace traceback tracemalloc tty turtle turtledemo types typing "
    "unicodedata unittest urllib usercustomize uu uuid venv warnings wave weakref webbrowser wsgiref xdrlib "
    "xml xmlrpc zipapp zipfile zipimport zlib zoneinfo ";

bool is_digits(std::string_view text) {
  return !text.empty() && std::all_of(text.begin(), text.end(), [](char c) { return c >= '0' && c <= '9'; });
}

// "python3.11", "python3.13t"; Debian's "python3" counts only through the dist-packages below it.
bool is_python_folder(std::string_view part) {
  if (!part.starts_with("python3.")) return false;
  part.remove_prefix(8);
  if (part.ends_with('t')) part.remove_suffix(1);
  return is_digits(part);
}

// "python311.zip"
bool is_python_zip(std::string_view part) {
  return part.starts_with("python3") && part.ends_with(".zip") && is_digits(part.substr(7, part.size() - 11));
}

std::string_view first_part(std::string_view path) { return path.substr(0, path.find('/')); }

bool is_standard_name(std::string_view below) {
  const std::string_view part = first_part(below);
  const std::string_view name = part.substr(0, part.find('.'));
  if (name.find(' ') != kNowhere) return false;
  return name.starts_with('_') || kStandardNames.find(" " + std::string(name) + " ") != kNowhere;
}

// Calls visit(part, offset after it) for each folder of the path, from the outermost one.
template <typename Visit>
void for_each_folder(std::string_view path, const Visit& visit) {
  size_t begin = 0;
  for (size_t slash = path.find('/'); slash != kNowhere; slash = path.find('/', begin)) {
    visit(path.substr(begin, slash - begin), slash + 1);
    begin = slash + 1;
  }
}

std::string_view folder_of(std::string_view path) { return path.substr(0, path.rfind('/') + 1); }

constexpr uint32_t kLongestLauncher = 40;  // lines: setuptools' launchers have 33, pip's 8

// Whether the file lies in a folder bin and is not called *.py, like the launchers that installers write for a
// package's program.
bool is_like_launcher(std::string_view file) {
  if (file.find('/') == kNowhere || file.ends_with(".py")) return false;
  std::string_view folder = folder_of(file);
  folder.remove_suffix(1);
  return base_name_view(folder) == "bin";
}

bool is_interpreter_name(std::string_view file) {
  if (file.starts_with("libpython3.")) return true;
  if (!file.starts_with("python3.")) return false;
  std::string_view minor = file.substr(8);
  while (!minor.empty() && minor.front() >= '0' && minor.front() <= '9') minor.remove_prefix(1);
  return minor.size() < file.size() - 8 && (minor.empty() || minor == "t" || minor == "d" || minor == "td");
}

// Whether -c has code that the user typed: multiprocessing uses -c, too, to run a function of another program.
bool has_typed_code(const RunInfo& run) {
  for (size_t i = 1; i + 1 < run.command.size(); ++i) {
    const std::string& word = run.command[i];
    if (word == "-c") return !run.command[i + 1].starts_with("from multiprocessing");
    if (!word.starts_with('-')) return false;
  }
  return false;
}

}  // namespace

bool has_python(const Profile& profile) {
  return std::any_of(profile.modules.begin(), profile.modules.end(),
                     [](const ProfileModule& module) { return module.path == kPythonModule; });
}

bool is_of_python(const Profile& profile, const Frame& frame) {
  return frame.module < profile.modules.size() && profile.modules[frame.module].path == kPythonModule;
}

bool is_python_mark(const Profile& profile, const Frame& frame) {
  const bool is_like_one = frame.function.starts_with(kImportMark) || frame.function == kPythonStartMark;
  return is_like_one && is_of_python(profile, frame);
}

bool is_evaluator_name(std::string_view function) {
  return function.starts_with("_PyEval_EvalFrame") || function.starts_with("_TAIL_CALL_");
}

PythonPaths::PythonPaths(const Profile& profile) : profile_(profile) {
  runs_python_.resize(profile.modules.size());
  std::set<std::string_view> launchers;
  std::set<std::string_view> programs;  // files that define functions, or are long
  for (const Frame& frame : profile.frames) {
    if (frame.module >= profile.modules.size()) continue;
    if (is_evaluator_name(frame.function)) runs_python_[frame.module] = 1;
    if (!is_of_python(profile, frame) || !is_like_launcher(frame.file)) continue;
    const bool is_like_one = frame.function == "<module>" || is_python_mark(profile, frame);
    (is_like_one && frame.line <= kLongestLauncher ? launchers : programs).insert(frame.file);
  }
  std::set_difference(launchers.begin(), launchers.end(), programs.begin(), programs.end(),
                      std::back_inserter(launchers_));
  for (uint32_t i = 0; i < profile.modules.size(); ++i) {
    const std::string_view path = profile.modules[i].path;
    const size_t torch = path.rfind("/torch/");
    if (torch != kNowhere && (base_name_view(path).starts_with("libtorch") || base_name_view(path).starts_with("_C.")))
      torch_folders_.emplace_back(path.substr(0, torch + 1));
    const size_t bin = path.rfind("/bin/");
    if (bin != kNowhere && is_interpreter_name(base_name_view(path)))
      libraries_.push_back(std::string(path.substr(0, bin)) + "/lib/");
  }
  for (uint32_t i = 0; i < profile.modules.size(); ++i) objects_.push_back(find_object(i));
  const std::string_view program = base_name_view(profile.run.executable);
  is_string_own_ = (!program.empty() && !program.starts_with("python")) || has_typed_code(profile.run);
}

size_t PythonPaths::below_packages(std::string_view file) const {
  size_t found = kNowhere;
  for_each_folder(file, [&](std::string_view part, size_t below) {
    const bool holds = part == "site-packages" || part == "dist-packages" || part.ends_with(".egg") ||
                       (part.ends_with(".whl") && below > part.size() + 1);
    if (holds) found = below;
  });
  if (found != kNowhere) return found;
  // heapprof's own Python module counts as a package, because the program calls it, and it allocates for itself.
  constexpr std::string_view kOwnModule = "/lib/heapprof/python/";
  if (const size_t own = file.find(kOwnModule); own != kNowhere) return own + kOwnModule.size();
  for (const std::string& folder : torch_folders_) {
    if (file.starts_with(folder) && file.substr(folder.size()).starts_with("torch/")) return folder.size();
  }
  return kNowhere;
}

size_t PythonPaths::below_standard(std::string_view file) const {
  size_t found = kNowhere;
  std::string_view above;
  for_each_folder(file, [&](std::string_view part, size_t below) {
    const bool holds = (is_python_folder(part) && (above == "lib" || above == "lib64")) || is_python_zip(part);
    if (holds && is_standard_name(file.substr(below))) found = below;
    above = part;
  });
  return found;
}

PythonOrigin PythonPaths::origin(std::string_view file) const {
  if (file.starts_with('<')) {
    if (file.starts_with("<frozen importlib._bootstrap") || file == "<frozen zipimport>") return PythonOrigin::kImport;
    if (file.starts_with("<frozen ")) return PythonOrigin::kStandard;
    for (const std::string_view typed : {"<stdin>", "<console>", "<ipython-input", "<cell", "<doctest"}) {
      if (file.starts_with(typed)) return PythonOrigin::kOwn;
    }
    return file == "<string>" && is_string_own_ ? PythonOrigin::kOwn : PythonOrigin::kGenerated;
  }
  if (below_packages(file) != kNowhere) return PythonOrigin::kPackage;
  if (below_standard(file) != kNowhere) return PythonOrigin::kStandard;
  const bool is_launcher = std::binary_search(launchers_.begin(), launchers_.end(), file);
  return is_launcher ? PythonOrigin::kGenerated : PythonOrigin::kOwn;
}

ObjectOrigin PythonPaths::find_object(uint32_t module) const {
  const std::string_view path = profile_.modules[module].path;
  const std::string_view name = base_name_view(path);
  if (is_interpreter_name(name)) return ObjectOrigin::kInterpreter;
  if (runs_python_[module] != 0) return name.starts_with("python") ? ObjectOrigin::kInterpreter : ObjectOrigin::kHost;
  if (below_packages(path) != kNowhere) return ObjectOrigin::kPackage;
  if (below_standard(path) != kNowhere) return ObjectOrigin::kStandard;
  for (const std::string_view folder : {"/usr/lib/", "/lib/", "/usr/local/lib/", "/usr/lib64/", "/lib64/"}) {
    if (path.starts_with(folder)) return ObjectOrigin::kSystem;
  }
  const bool is_beside = std::any_of(libraries_.begin(), libraries_.end(),
                                     [path](const std::string& folder) { return path.starts_with(folder); });
  return is_beside || path.empty() || path.starts_with('[') ? ObjectOrigin::kSystem : ObjectOrigin::kOwn;
}

std::string PythonPaths::package(std::string_view file) const {
  if (file.starts_with("<frozen ")) return std::string(file.substr(8, file.find_first_of(".>", 8) - 8));
  if (file.empty() || file.starts_with('<')) return "";
  size_t below = below_packages(file);
  if (below == kNowhere) below = below_standard(file);
  std::string_view name = below == kNowhere ? base_name_view(file) : first_part(file.substr(below));
  if (below == kNowhere && (name == "__init__.py" || name == "__main__.py")) {
    const std::string_view folder = folder_of(file);
    if (folder.size() > 1) name = base_name_view(folder.substr(0, folder.size() - 1));
  }
  // "six.py", "_cffi_backend.cpython-311-x86_64-linux-gnu.so", "numpy.libs"
  return std::string(name.substr(0, name.find('.')));
}

std::string PythonPaths::package_of_object(uint32_t module) const {
  const std::string_view path = profile_.modules[module].path;
  if (objects_[module] == ObjectOrigin::kPackage) return package(path);
  // Debian installs PyTorch's libraries in the system's folders.
  const std::string_view name = base_name_view(path);
  if (name.starts_with("libtorch") || name.starts_with("libc10.") || name.starts_with("libc10_")) return "torch";
  return "";
}

std::string_view PythonPaths::shown(std::string_view file) const {
  size_t below = below_packages(file);
  if (below == kNowhere) below = below_standard(file);
  return below == kNowhere ? file : file.substr(below);
}

}  // namespace heapprof::cli
