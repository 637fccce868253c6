// cli/model/analysis/frame_kind.cc: rules by the first part of a qualified name, by whole names, and by the object that
// holds the code.
//
// A demangled template carries its return type ("std::string app::join<int>(…)"), so the plain name is what is looked
// at. A frame without a name in an ordinary object counts as the user's: in a stripped program everything is such a
// frame.
#include "cli/model/analysis/frame_kind.h"

#include "cli/base/file_name.h"
#include "cli/base/function_name.h"
#include "cli/model/analysis/python/paths.h"
#include "cli/model/analysis/script_frames.h"

#include <algorithm>
#include <array>
#include <optional>
#include <string>

namespace heapprof::cli {
namespace {

template <size_t N>
bool is_one_of(std::string_view name, const std::array<std::string_view, N>& sorted) {
  return std::binary_search(sorted.begin(), sorted.end(), name);
}

template <size_t N>
bool starts_with_one_of(std::string_view name, const std::array<std::string_view, N>& prefixes) {
  return std::any_of(prefixes.begin(), prefixes.end(),
                     [&](std::string_view prefix) { return name.starts_with(prefix); });
}

// The C family, and wrappers so common that no one looks for them: they check for null and return.
constexpr std::array<std::string_view, 48> kAllocators = {
    "PyMem_Calloc",  "PyMem_Malloc",    "PyMem_RawCalloc", "PyMem_RawMalloc",  "PyMem_RawRealloc",
    "PyMem_Realloc", "PyObject_Calloc", "PyObject_Malloc", "PyObject_Realloc", "_ZdaPv",
    "_ZdlPv",        "_Znam",           "_Znwm",           "_int_malloc",      "_int_memalign",
    "_int_realloc",  "aligned_alloc",   "asprintf",        "calloc",           "cfree",
    "free",          "g_malloc",        "g_malloc0",       "g_malloc_n",       "g_realloc",
    "g_slice_alloc", "g_strdup",        "g_try_malloc",    "malloc",           "malloc_hook_ini",
    "memalign",      "posix_memalign",  "pvalloc",         "realloc",          "reallocarray",
    "strdup",        "strndup",         "sysmalloc",       "tcache_init",      "valloc",
    "vasprintf",     "wcsdup",          "xcalloc",         "xmalloc",          "xmemdup",
    "xrealloc",      "xstrdup",         "xzalloc"};
constexpr std::array<std::string_view, 31> kAllocatorPrefixes = {"operator new",
                                                                 "libcudart_static_",  // as nvcc links it
                                                                 "cudaMalloc",
                                                                 "c10::alloc_cpu",  // PyTorch's
                                                                 "c10::cuda::CUDACachingAllocator",
                                                                 "cudaHostAlloc",
                                                                 "cudaFree",
                                                                 "cudaMemcpy",
                                                                 "cudaMemset",
                                                                 "operator delete",
                                                                 "__libc_malloc",
                                                                 "__libc_calloc",
                                                                 "__libc_realloc",
                                                                 "__libc_memalign",
                                                                 "__libc_valloc",
                                                                 "__libc_pvalloc",
                                                                 "__libc_free",
                                                                 "__GI___libc_m",
                                                                 "__GI___libc_c",
                                                                 "__GI___libc_re",
                                                                 "__rust_alloc",
                                                                 "__rust_realloc",
                                                                 "__rdl_",
                                                                 "__rg_",
                                                                 "je_",
                                                                 "mi_",
                                                                 "_mi_",
                                                                 "tc_",
                                                                 "tcmalloc::",
                                                                 "scudo::",
                                                                 "_PyMem_"};
constexpr std::array<std::string_view, 9> kAllocatorModules = {"libheapprof", "libjemalloc", "libmimalloc",
                                                               "libtcmalloc", "libsnmalloc", "libhoard",
                                                               "libscudo",    "vgpreload_",  "libcudart.so"};

constexpr std::array<std::string_view, 9> kStandardPrefixes = {
    "std::",  "__gnu_cxx::", "__cxxabiv1::",      "core::", "alloc::", "hashbrown::",
    "fmt::v", "__cxa_",      "__rust_begin_short"};
constexpr std::array<std::string_view, 4> kStandardModules = {"libstdc++.so", "libc++.so", "libc++abi.so", "libstd-"};

constexpr std::array<std::string_view, 19> kRuntimes = {"__clone",
                                                        "__clone3",
                                                        "__do_global_ctors_aux",
                                                        "__libc_csu_init",
                                                        "__libc_start_call_main",
                                                        "__libc_start_main",
                                                        "__libc_start_main@@GLIBC_2.34",
                                                        "__libc_start_main_impl",
                                                        "__pthread_once_slow",
                                                        "__run_exit_handlers",
                                                        "_dl_init",
                                                        "_start",
                                                        "call_init",
                                                        "clone",
                                                        "clone3",
                                                        "dl_main",
                                                        "dlopen_doit",
                                                        "rtld_lock_default_lock_recursive",
                                                        "start_thread"};
constexpr std::array<std::string_view, 5> kRuntimePrefixes = {"Builtins_", "_dl_", "__GI__dl_", "__nptl_", "_IO_"};
constexpr std::array<std::string_view, 9> kRuntimeModules = {"libc.so",  "libc-2.",  "libpthread", "ld-linux", "ld-2.",
                                                             "libdl.so", "libdl-2.", "libgcc_s",   "libm.so"};

static_assert(std::is_sorted(kAllocators.begin(), kAllocators.end()));
static_assert(std::is_sorted(kRuntimes.begin(), kRuntimes.end()));

// "<A as B>::f" is A's business, unless A is a bare parameter or a built-in type ("T", "[u8]", "&str"): then it is B's.
std::string_view rust_owner(std::string_view name) {
  if (!name.starts_with('<')) return name;
  std::string_view self = name.substr(1);
  const size_t as = self.find(" as ");
  while (!self.empty() && (self[0] == '<' || self[0] == '&' || self[0] == '[' || self[0] == '(' || self[0] == '*'))
    self.remove_prefix(1);
  for (const std::string_view word : {"mut ", "const ", "dyn "}) {
    if (self.starts_with(word)) self.remove_prefix(word.size());
  }
  const size_t end = self.find_first_of(" >]");
  const bool is_path = self.substr(0, end).find("::") != std::string_view::npos;
  return is_path || as == std::string_view::npos ? self : name.substr(1 + as + 4);
}

// Valgrind names an inlined function without its namespace and a file without its folder: "allocate
// (new_allocator.h:137)".
constexpr std::array<std::string_view, 34> kStandardHeaders = {"alloc_traits.h",
                                                               "allocated_ptr.h",
                                                               "allocator.h",
                                                               "any",
                                                               "basic_ios.h",
                                                               "basic_string.h",
                                                               "basic_string.tcc",
                                                               "char_traits.h",
                                                               "deque.tcc",
                                                               "fstream",
                                                               "fstream.tcc",
                                                               "functional",
                                                               "future",
                                                               "hashtable.h",
                                                               "hashtable_policy.h",
                                                               "invoke.h",
                                                               "list.tcc",
                                                               "new_allocator.h",
                                                               "optional",
                                                               "ptr_traits.h",
                                                               "shared_ptr.h",
                                                               "shared_ptr_base.h",
                                                               "sstream",
                                                               "std_function.h",
                                                               "std_thread.h",
                                                               "string_conversions.h",
                                                               "string_view",
                                                               "tuple",
                                                               "unique_ptr.h",
                                                               "unordered_map.h",
                                                               "unordered_set.h",
                                                               "utility",
                                                               "variant",
                                                               "vector.tcc"};
static_assert(std::is_sorted(kStandardHeaders.begin(), kStandardHeaders.end()));

// CPython's own allocator has too many functions with common names: "new_arena", "arena_map_get".
bool is_allocator_source(std::string_view file) { return file == "obmalloc.c" || file.ends_with("/obmalloc.c"); }

bool is_standard_source(std::string_view file, Dialect dialect) {
  if (file.find("/include/c++/") != std::string_view::npos) return true;
  if (file.starts_with("/rustc/") && file.find("/library/") != std::string_view::npos) return true;
  if (dialect != Dialect::kValgrind || file.find('/') != std::string_view::npos) return false;
  return is_one_of(file, kStandardHeaders) || (file.starts_with("stl_") && file.ends_with(".h"));
}

}  // namespace

FrameKind frame_kind(std::string_view function, std::string_view module_path) {
  const std::string_view module = base_name_view(module_path);
  const std::string plain = plain_function(function);
  const std::string_view name = rust_owner(plain);
  if (is_one_of(name, kAllocators) || starts_with_one_of(name, kAllocatorPrefixes)) return FrameKind::kAllocator;
  if (starts_with_one_of(module, kAllocatorModules)) return FrameKind::kAllocator;
  if (starts_with_one_of(name, kStandardPrefixes) || starts_with_one_of(module, kStandardModules))
    return FrameKind::kStandard;
  if (is_one_of(name, kRuntimes) || starts_with_one_of(name, kRuntimePrefixes)) return FrameKind::kRuntime;
  if (starts_with_one_of(module, kRuntimeModules)) return FrameKind::kRuntime;
  return function.empty() && module.empty() ? FrameKind::kUnknown : FrameKind::kUser;
}

FrameKind frame_kind(const Profile& profile, const Frame& frame) {
  const bool has_module = frame.module < profile.modules.size();
  if (is_arena(frame.function, frame.file)) return FrameKind::kUser;
  if (is_of_python(profile, frame)) return FrameKind::kUser;  // a method of Python's may be called "clone" or "free"
  const FrameKind kind = frame_kind(
      frame.function, has_module ? std::string_view(profile.modules[frame.module].path) : std::string_view());
  if (kind != FrameKind::kUser) return kind;
  if (is_allocator_source(frame.file)) return FrameKind::kAllocator;
  return is_standard_source(frame.file, profile.dialect) ? FrameKind::kStandard : kind;
}

namespace {

// Of the stack's frames that are a script's functions the outermost; 0: there is none.
uint32_t outermost_script(const Profile& profile, uint32_t node) {
  uint32_t found = 0;
  for (uint32_t at = node; at != 0; at = profile.nodes[at].parent) {
    if (frame_role(profile, profile.frames[profile.nodes[at].frame]) == FrameRole::kScript) found = at;
  }
  return found;
}

}  // namespace

uint32_t first_user_node(const Profile& profile, uint32_t node) {
  uint32_t not_allocator = 0;
  std::optional<uint32_t> script;  // looked for where an interpreter's frame is met
  for (uint32_t at = node; at != 0; at = profile.nodes[at].parent) {
    const Frame& frame = profile.frames[profile.nodes[at].frame];
    const FrameKind kind = frame_kind(profile, frame);
    if (not_allocator == 0 && kind != FrameKind::kAllocator) not_allocator = at;
    if (kind != FrameKind::kUser) continue;
    const FrameRole role = frame_role(profile, frame);
    if (role == FrameRole::kOther || role == FrameRole::kScript) return at;
    if (!script) script = outermost_script(profile, node);
    if (*script == 0 || at <= *script) return at;  // outer frames have smaller numbers
  }
  return not_allocator != 0 ? not_allocator : node;
}

const Frame* first_user_frame(const Profile& profile, uint32_t node) {
  const uint32_t found = first_user_node(profile, node);
  return found == 0 ? nullptr : &profile.frames[profile.nodes[found].frame];
}

}  // namespace heapprof::cli
