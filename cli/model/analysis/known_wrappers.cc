// cli/model/analysis/known_wrappers.cc: wrappers around malloc that many programs have, by name.
//
// The list has only functions that return one block of the requested size. If a function decides how much it allocates,
// folding it would hide the cause. Pools and arenas that take large pieces are not in the list, because the caller that
// triggered a piece is not its only user. An operator new of a class, and CPython's functions for objects, may cut
// objects from their own pieces, so they are folded only if their blocks do not look like pieces
// (OwnBlocks::cuts_pieces() in cli/model/analysis/wrapper_shape.h).
#include "cli/base/glob.h"
#include "cli/model/analysis/folding.h"

#include <algorithm>
#include <array>

namespace heapprof::cli {
namespace {

// clang-format off
constexpr std::array kWrappers = std::to_array<std::string_view>({
    // redis, valkey, zlib
    "zcalloc", "zcalloc_num", "zcalloc_usable", "zmalloc", "zmalloc_cache_aligned", "zmalloc_usable", "zrealloc",
    "zrealloc_usable", "zstrdup", "ztrycalloc", "ztrycalloc_usable", "ztrycalloc_usable_internal", "ztrymalloc",
    "ztrymalloc_usable", "ztrymalloc_usable_internal", "ztryrealloc", "ztryrealloc_usable",
    "ztryrealloc_usable_internal", "valkey_calloc", "valkey_malloc", "valkey_realloc",
    // SQLite
    "dbMallocRawFinish", "dbReallocFinish", "mallocWithAlarm", "pcache1Alloc", "sqlite3DbMallocRaw",
    "sqlite3DbMallocRawNN", "sqlite3DbMallocZero", "sqlite3DbRealloc", "sqlite3DbReallocOrFree", "sqlite3DbSpanDup",
    "sqlite3DbStrDup", "sqlite3DbStrNDup", "sqlite3Malloc", "sqlite3MallocZero", "sqlite3MemMalloc",
    "sqlite3MemRealloc", "sqlite3PageMalloc", "sqlite3Realloc", "sqlite3_malloc", "sqlite3_malloc64",
    "sqlite3_realloc", "sqlite3_realloc64",
    // OpenSSL and its forks
    "CRYPTO_aligned_alloc", "CRYPTO_calloc", "CRYPTO_clear_realloc", "CRYPTO_malloc", "CRYPTO_malloc_array",
    "CRYPTO_memdup", "CRYPTO_realloc", "CRYPTO_realloc_array", "CRYPTO_secure_malloc", "CRYPTO_secure_zalloc",
    "CRYPTO_strdup", "CRYPTO_strndup", "CRYPTO_zalloc", "OPENSSL_calloc", "OPENSSL_malloc", "OPENSSL_memdup",
    "OPENSSL_realloc", "OPENSSL_strdup", "OPENSSL_strndup", "OPENSSL_zalloc",
    // GLib, D-Bus
    "dbus_malloc", "dbus_malloc0", "dbus_realloc", "_dbus_strdup", "g_aligned_alloc", "g_aligned_alloc0", "g_malloc",
    "g_malloc0", "g_malloc0_n", "g_malloc_n", "g_memdup", "g_memdup2", "g_realloc", "g_realloc_n", "g_slice_alloc",
    "g_slice_alloc0", "g_slice_copy", "g_strdup", "g_strndup", "g_try_malloc", "g_try_malloc0", "g_try_malloc0_n",
    "g_try_malloc_n", "g_try_realloc", "g_try_realloc_n",
    // FFmpeg
    "av_calloc", "av_fast_malloc", "av_fast_mallocz", "av_fast_realloc", "av_malloc", "av_malloc_array", "av_mallocz",
    "av_mallocz_array", "av_memdup", "av_realloc", "av_realloc_array", "av_realloc_f", "av_reallocp",
    "av_reallocp_array", "av_strdup", "av_strndup",
    // GNU, git, and others that check for null
    "bfd_malloc", "bfd_realloc", "bfd_zmalloc", "checked_calloc", "checked_malloc", "checked_realloc", "do_xmalloc",
    "do_xmallocz", "ecalloc", "emalloc", "erealloc", "estrdup", "safe_calloc", "safe_malloc", "safe_realloc",
    "sh_xmalloc", "sh_xrealloc", "xcalloc", "xcharalloc", "xicalloc", "ximalloc", "ximemdup", "xirealloc",
    "xireallocarray", "xmalloc", "xmalloc_multiply", "xmallocz", "xmallocz_gently", "xmemdup", "xmemdup0", "xmemdupz",
    "xnmalloc", "xnrealloc", "xrealloc", "xreallocarray", "xstrdup", "xstrndup", "xzalloc",
    // CPython, numpy
    "PyDataMem_NEW", "PyDataMem_NEW_ZEROED", "PyDataMem_RENEW", "PyDataMem_UserNEW", "PyDataMem_UserNEW_ZEROED",
    "PyDataMem_UserRENEW", "PyMem_Calloc", "PyMem_Malloc", "PyMem_RawCalloc", "PyMem_RawMalloc", "PyMem_RawRealloc",
    "PyMem_Realloc", "PyObject_Calloc", "PyObject_Malloc", "PyObject_Realloc", "PyType_GenericAlloc", "_PyObject_GC_Alloc",
    "_PyObject_GC_Calloc", "_PyObject_GC_Malloc", "_PyObject_GC_NewVar", "_PyObject_GC_Resize",
    "_PyObject_New", "_PyObject_NewVar", "_PyType_AllocNoTrack",
    // Ruby, Perl, Tcl, Lua, PHP
    "Perl_safesyscalloc", "Perl_safesysmalloc", "Perl_safesysrealloc", "Tcl_Alloc", "Tcl_AttemptAlloc",
    "Tcl_AttemptRealloc", "Tcl_Realloc", "TclpAlloc", "TclpRealloc", "luaM_malloc_", "luaM_realloc_",
    "luaM_saferealloc_", "objspace_xcalloc", "objspace_xmalloc", "objspace_xmalloc0", "objspace_xrealloc",
    "rb_gc_impl_calloc", "rb_gc_impl_malloc", "rb_gc_impl_realloc", "ruby_xcalloc", "ruby_xmalloc", "ruby_xmalloc2",
    "ruby_xrealloc", "ruby_xrealloc2", "_emalloc", "_ecalloc", "_erealloc", "__zend_calloc", "__zend_malloc",
    "__zend_realloc",
    // V8, node, the JVM, Mozilla, WebKit
    "AllocateHeap", "ReallocateHeap", "js_calloc", "js_malloc", "js_realloc", "moz_xcalloc", "moz_xmalloc",
    "moz_xrealloc", "moz_xstrdup", "node::NodeArrayBufferAllocator::Allocate",
    "node::NodeArrayBufferAllocator::AllocateUninitialized", "node::NodeArrayBufferAllocator::Reallocate",
    "os::malloc", "os::realloc", "v8::base::AlignedAlloc", "v8::base::BoundedPageAllocator::AllocatePages",
    "v8::base::BoundedPageAllocator::SetPermissions", "v8::base::Calloc", "v8::base::Malloc", "v8::base::OS::Allocate",
    "v8::base::OS::SetPermissions", "v8::base::PageAllocator::AllocatePages", "v8::base::PageAllocator::SetPermissions",
    "v8::base::Realloc", "v8::internal::AccountingAllocator::AllocateSegment", "v8::internal::AlignedAlloc",
    "v8::internal::AlignedAllocWithRetry", "v8::internal::AllocAtLeastWithRetry", "v8::internal::AllocWithRetry",
    "v8::internal::AllocatePages", "v8::internal::BackingStore::Allocate",
    "v8::internal::Heap::AllocateExternalBackingStore", "v8::internal::Malloced::operator new",
    "v8::internal::SetPermissions", "v8::internal::VirtualMemory::SetPermissions", "v8::internal::Zone::Expand",
    "v8::internal::Zone::NewExpand", "WTF::fastCalloc", "WTF::fastMalloc", "WTF::fastRealloc", "WTF::fastZeroedMalloc",
    // libraries
    "SDL_calloc", "SDL_calloc_REAL", "SDL_malloc", "SDL_malloc_REAL", "SDL_realloc", "SDL_realloc_REAL", "SDL_strdup",
    "SDL_strdup_REAL", "_TIFFcalloc", "_TIFFmalloc", "_TIFFrealloc", "_gcry_calloc", "_gcry_malloc", "_gcry_xcalloc",
    "_gcry_xmalloc", "c10::DefaultCPUAllocator::allocate", "event_mm_calloc_", "event_mm_malloc_", "event_mm_realloc_",
    "event_mm_strdup_", "llvm::allocate_buffer", "llvm::safe_calloc", "llvm::safe_malloc", "llvm::safe_realloc",
    "nettle_xalloc", "nettle_xrealloc", "ngx_alloc", "ngx_calloc", "ngx_memalign", "png_calloc", "png_malloc",
    "png_malloc_base", "png_malloc_warn", "ralloc_array_size", "ralloc_size", "ralloc_strdup", "ralloc_strndup",
    "reralloc_size", "rzalloc_array_size", "rzalloc_size", "PORT_Alloc_Util", "PORT_ZAlloc_Util", "PR_Calloc",
    "PR_Malloc", "PR_Realloc", "uv__calloc", "uv__malloc", "uv__realloc", "uv__reallocf", "uv__strdup", "uv__strndup",
    "xmlStrdup", "xmlStrndup",
});
// Globs for templates and families.
constexpr std::array kFamilies = std::to_array<std::string_view>({
    "QArrayData::allocate*", "QArrayData::reallocate*", "__talloc*", "_talloc_*",
    "node::Calloc<*", "node::Malloc<*", "node::Realloc<*", "node::UncheckedCalloc<*", "node::UncheckedMalloc<*",
    "node::UncheckedRealloc<*", "v8::internal::NewArray<*", "v8::internal::Zone::Allocate*",
});
// clang-format on

constexpr auto kSorted = [] {
  auto sorted = kWrappers;
  std::sort(sorted.begin(), sorted.end());
  return sorted;
}();
static_assert(std::adjacent_find(kSorted.begin(), kSorted.end()) == kSorted.end(), "each name stands here once");

}  // namespace

WrapperFame wrapper_fame(std::string_view plain) {
  if (plain.ends_with("::operator new")) return WrapperFame::kMakesObjects;
  if (plain.ends_with("::operator new[]") || plain == "gc_alloc" || plain == "_PyObject_GC_New")
    return WrapperFame::kMayCut;
  const bool is_known = std::binary_search(kSorted.begin(), kSorted.end(), plain) ||
                        std::any_of(kFamilies.begin(), kFamilies.end(),
                                    [plain](std::string_view family) { return glob_matches(family, plain); });
  return is_known ? WrapperFame::kKnown : WrapperFame::kNone;
}

}  // namespace heapprof::cli
