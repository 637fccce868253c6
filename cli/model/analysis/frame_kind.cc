// cli/model/analysis/frame_kind.cc: classifies frames by the first part of a qualified name, by whole names, and by the
// object file that has the code.
//
// A demangled template contains its return type ("std::string app::join<int>(…)"), so the plain name is used. A frame
// without a name in an ordinary object file counts as the user's, because all frames of a stripped program are like
// that.
#include "cli/model/analysis/frame_kind.h"

#include "cli/base/file_name.h"
#include "cli/base/function_name.h"
#include "cli/base/text.h"
#include "cli/model/analysis/python/paths.h"
#include "cli/model/analysis/script_frames.h"
#include "cli/model/profile/recursion_frame.h"

#include <algorithm>
#include <array>
#include <string>

namespace heapprof::cli {
namespace {

template <size_t N>
bool is_in_sorted(std::string_view name, const std::array<std::string_view, N>& sorted) {
  return std::binary_search(sorted.begin(), sorted.end(), name);
}

// The C functions, and wrappers that are too common to explain anything: they only check for null.
constexpr std::array<std::string_view, 47> kAllocators = {"PyMem_Calloc",
                                                          "PyMem_Malloc",
                                                          "PyMem_RawCalloc",
                                                          "PyMem_RawMalloc",
                                                          "PyMem_RawRealloc",
                                                          "PyMem_Realloc",
                                                          "PyObject_Calloc",
                                                          "PyObject_Malloc",
                                                          "PyObject_Realloc",
                                                          "_ZdaPv",
                                                          "_ZdlPv",
                                                          "_Znam",
                                                          "_Znwm",
                                                          "__gnat_malloc",
                                                          "__gnat_realloc",
                                                          "_int_malloc",
                                                          "_int_memalign",
                                                          "_int_realloc",
                                                          "aligned_alloc",
                                                          "asprintf",
                                                          "calloc",
                                                          "cfree",
                                                          "free",
                                                          "g_malloc",
                                                          "g_malloc0",
                                                          "g_malloc_n",
                                                          "g_realloc",
                                                          "g_slice_alloc",
                                                          "g_strdup",
                                                          "g_try_malloc",
                                                          "malloc",
                                                          "memalign",
                                                          "posix_memalign",
                                                          "pvalloc",
                                                          "realloc",
                                                          "reallocarray",
                                                          "strdup",
                                                          "strndup",
                                                          "valloc",
                                                          "vasprintf",
                                                          "wcsdup",
                                                          "xcalloc",
                                                          "xmalloc",
                                                          "xmemdup",
                                                          "xrealloc",
                                                          "xstrdup",
                                                          "xzalloc"};
constexpr std::array<std::string_view, 27> kAllocatorPrefixes = {"operator new",
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
                                                                 "tcmalloc::",
                                                                 "scudo::",
                                                                 "_PyMem_"};
// What follows the prefixes of jemalloc, mimalloc and tcmalloc. The prefix alone says nothing: MyISAM's functions begin
// with mi_, many a table's with tc_.
constexpr std::array<std::string_view, 41> kPrefixedNames = {"aligned_alloc",
                                                             "aligned_recalloc",
                                                             "calloc",
                                                             "cfree",
                                                             "dallocx",
                                                             "expand",
                                                             "free",
                                                             "free_aligned",
                                                             "free_size",
                                                             "free_sized",
                                                             "malloc",
                                                             "malloc_aligned",
                                                             "malloc_default",
                                                             "malloc_generic",
                                                             "malloc_small",
                                                             "mallocn",
                                                             "mallocx",
                                                             "memalign",
                                                             "new",
                                                             "new_aligned",
                                                             "new_aligned_nothrow",
                                                             "new_n",
                                                             "new_nothrow",
                                                             "newarray",
                                                             "newarray_aligned",
                                                             "newarray_nothrow",
                                                             "posix_memalign",
                                                             "pvalloc",
                                                             "rallocx",
                                                             "realloc",
                                                             "reallocarr",
                                                             "reallocarray",
                                                             "reallocf",
                                                             "reallocn",
                                                             "recalloc",
                                                             "rezalloc",
                                                             "sdallocx",
                                                             "strdup",
                                                             "strndup",
                                                             "valloc",
                                                             "zalloc"};
static_assert(std::is_sorted(kPrefixedNames.begin(), kPrefixedNames.end()));
// Prefixes of internal functions of jemalloc and mimalloc.
constexpr std::array<std::string_view, 26> kPrefixedInside = {
    "je_arena_", "je_base_",   "je_chunk_",  "je_ecache_",  "je_ehooks_", "je_extent",  "je_hpa_",
    "je_huge_",  "je_large_",  "je_pa_",     "je_pac_",     "je_pages_",  "je_tcache_", "je_tsd_",
    "_mi_arena", "_mi_heap_",  "_mi_malloc", "_mi_os_",     "_mi_page_",  "_mi_prim_",  "_mi_segment_",
    "mi_heap_",  "mi_malloc_", "mi_arena",   "mi_segment_", "mi_os_mem_"};

bool is_prefixed_allocator(std::string_view name) {
  if (starts_with_one_of(name, kPrefixedInside)) return true;
  for (const std::string_view prefix : {"je_", "mi_", "tc_"}) {
    if (name.starts_with(prefix)) return is_in_sorted(name.substr(prefix.size()), kPrefixedNames);
  }
  return false;
}

constexpr std::array<std::string_view, 9> kAllocatorModules = {"libheapprof", "libjemalloc", "libmimalloc",
                                                               "libtcmalloc", "libsnmalloc", "libhoard",
                                                               "libscudo",    "vgpreload_",  "libcudart.so"};

constexpr std::array<std::string_view, 6> kStandardPrefixes = {
    "std::", "__gnu_cxx::", "__cxxabiv1::", "fmt::v", "__cxa_", "__rust_begin_short"};
// Prefixes of Rust's standard library. C++ programs have namespaces with these names, too.
constexpr std::array<std::string_view, 3> kRustPrefixes = {"core::", "alloc::", "hashbrown::"};
// Standard libraries of C++, Rust, Ada, Fortran and D.
constexpr std::array<std::string_view, 12> kStandardModules = {
    "libstdc++.so",   "libc++.so",     "libc++abi.so",    "libstd-",       "libgnat-",       "libgnarl-",
    "libgfortran.so", "libgphobos.so", "libgdruntime.so", "libphobos2.so", "libphobos2-ldc", "libdruntime-ldc"};

constexpr std::array<std::string_view, 11> kRuntimes = {"__clone",
                                                        "__clone3",
                                                        "__do_global_ctors_aux",
                                                        "__libc_csu_init",
                                                        "__libc_start_call_main",
                                                        "__libc_start_main",
                                                        "__libc_start_main@@GLIBC_2.34",
                                                        "__libc_start_main_impl",
                                                        "__pthread_once_slow",
                                                        "__run_exit_handlers",
                                                        "_start"};
// Names that a program may also give to its own functions. They count as libc's or the loader's only if the module is
// unknown (Valgrind records none). If the module is libc or the loader, every function is runtime.
constexpr std::array<std::string_view, 10> kCommonRuntimes = {"call_init",
                                                              "clone",
                                                              "clone3",
                                                              "dl_main",
                                                              "dlopen_doit",
                                                              "malloc_hook_ini",
                                                              "rtld_lock_default_lock_recursive",
                                                              "start_thread",
                                                              "sysmalloc",
                                                              "tcache_init"};
constexpr std::array<std::string_view, 2> kRuntimePrefixes = {"__GI__dl_", "__nptl_"};
constexpr std::array<std::string_view, 2> kCommonRuntimePrefixes = {"_dl_", "_IO_"};
constexpr std::array<std::string_view, 9> kRuntimeModules = {"libc.so",  "libc-2.",  "libpthread", "ld-linux", "ld-2.",
                                                             "libdl.so", "libdl-2.", "libgcc_s",   "libm.so"};

static_assert(std::is_sorted(kAllocators.begin(), kAllocators.end()));
static_assert(std::is_sorted(kRuntimes.begin(), kRuntimes.end()));
static_assert(std::is_sorted(kCommonRuntimes.begin(), kCommonRuntimes.end()));

// V8's builtins have names like "Builtins_ArrayMap", and no known source.
bool is_v8_builtin(std::string_view name) {
  constexpr std::string_view kPrefix = "Builtins_";
  return name.starts_with(kPrefix) && name.size() > kPrefix.size() && name[kPrefix.size()] >= 'A' &&
         name[kPrefix.size()] <= 'Z';
}

// Whether a function has a parameter list, which only C++ names have.
bool has_parameters(std::string_view function) {
  const size_t clone = function.find(" [clone ");
  function = function.substr(0, clone);
  for (const std::string_view qualifier : {" const", " volatile", " &", " &&"}) {
    if (function.ends_with(qualifier)) function.remove_suffix(qualifier.size());
  }
  return function.ends_with(')') && !function.ends_with("(anonymous namespace)");
}

bool is_rust_source(std::string_view file) { return file.empty() || file.ends_with(".rs"); }

// "<A as B>::f" belongs to A, unless A is a bare parameter or a built-in type ("T", "[u8]", "&str"): then to B.
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

// Headers of the standard library. Valgrind names an inlined function without its namespace, and a file without its
// folder: "allocate (new_allocator.h:137)".
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

// CPython's allocator is recognised by its source file, because many of its functions have common names: "new_arena",
// "arena_map_get".
bool is_allocator_source(std::string_view file) { return file == "obmalloc.c" || file.ends_with("/obmalloc.c"); }

bool has_part(std::string_view file, std::string_view part) { return file.find(part) != std::string_view::npos; }

bool is_standard_source(std::string_view file, Dialect dialect) {
  if (file.find("/include/c++/") != std::string_view::npos) return true;
  if (file.starts_with("/rustc/") && file.find("/library/") != std::string_view::npos) return true;
  if (dialect != Dialect::kValgrind || file.find('/') != std::string_view::npos) return false;
  return is_in_sorted(file, kStandardHeaders) || (file.starts_with("stl_") && file.ends_with(".h"));
}

}  // namespace

namespace {

// file: the source file; empty: unknown.
FrameKind kind_of(std::string_view function, std::string_view file, std::string_view module_path) {
  const std::string_view module = base_name_view(module_path);
  const std::string plain = plain_function(function_of_recursion(function));
  const std::string_view name = rust_owner(plain);
  if (is_in_sorted(name, kAllocators) || starts_with_one_of(name, kAllocatorPrefixes) || is_prefixed_allocator(name))
    return FrameKind::kAllocator;
  if (starts_with_one_of(module, kAllocatorModules)) return FrameKind::kAllocator;
  if (starts_with_one_of(name, kStandardPrefixes) || starts_with_one_of(module, kStandardModules))
    return FrameKind::kStandard;
  if (starts_with_one_of(name, kRustPrefixes) && is_rust_source(file) && !has_parameters(function))
    return FrameKind::kStandard;
  if (is_in_sorted(name, kRuntimes) || starts_with_one_of(name, kRuntimePrefixes)) return FrameKind::kRuntime;
  if (is_v8_builtin(name) && file.empty()) return FrameKind::kRuntime;
  if (starts_with_one_of(module, kRuntimeModules)) return FrameKind::kRuntime;
  if (!module.empty()) return FrameKind::kUser;
  if (is_in_sorted(name, kCommonRuntimes) || starts_with_one_of(name, kCommonRuntimePrefixes))
    return FrameKind::kRuntime;
  return function.empty() ? FrameKind::kUnknown : FrameKind::kUser;
}

// Go's runtime, and what cgo writes around a call of C.
bool is_go_runtime(std::string_view function, std::string_view file) {
  return (function.starts_with("runtime.") && has_part(file, "/src/runtime/")) || file.starts_with("/_/runtime/cgo/") ||
         file.ends_with("_cgo_gotypes.go") || file.ends_with("/cgo-gcc-prolog");
}

}  // namespace

FrameKind frame_kind(std::string_view function, std::string_view module_path) {
  return kind_of(function, "", module_path);
}

FrameKind frame_kind(const Profile& profile, const Frame& frame) {
  const bool has_module = frame.module < profile.modules.size();
  if (is_arena(frame.function, frame.file)) return FrameKind::kUser;
  if (is_of_python(profile, frame)) return FrameKind::kUser;  // a Python method may be called "clone" or "free"
  const FrameKind kind =
      kind_of(frame.function, frame.file,
              has_module ? std::string_view(profile.modules[frame.module].path) : std::string_view());
  if (kind != FrameKind::kUser) return kind;
  if (is_go_runtime(frame.function, frame.file)) return FrameKind::kRuntime;
  if (is_allocator_source(frame.file)) return FrameKind::kAllocator;
  return is_standard_source(frame.file, profile.dialect) ? FrameKind::kStandard : kind;
}

}  // namespace heapprof::cli
