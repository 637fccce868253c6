// tests/unit/model/frame_kind_test.cc: names as they were seen in real stacks.
#include "cli/model/analysis/frame_kind.h"

#include "cli/model/analysis/places.h"
#include "tests/support/user_frame.h"

#include <catch2/catch.hpp>

using namespace heapprof::cli;
using heapprof::test::user_frame;

namespace {

struct Seen {
  FrameKind kind;
  const char* function;
  const char* module;
};

constexpr const char* kApp = "/opt/app/server";
constexpr const char* kLibc = "/usr/lib/x86_64-linux-gnu/libc.so.6";
constexpr const char* kPython = "/usr/bin/python3.11";

constexpr Seen kSeen[] = {
    {FrameKind::kAllocator, "malloc", "/usr/libexec/valgrind/vgpreload_dhat-amd64-linux.so"},
    {FrameKind::kAllocator, "operator new(unsigned long)", "/usr/lib/x86_64-linux-gnu/libstdc++.so.6.0.30"},
    {FrameKind::kAllocator, "operator new[](unsigned long, std::align_val_t)", kApp},
    {FrameKind::kAllocator, "operator delete(void*)", kApp},
    {FrameKind::kAllocator, "__libc_malloc", kLibc},
    {FrameKind::kAllocator, "_int_malloc", kLibc},
    {FrameKind::kAllocator, "__GI___libc_malloc", kLibc},
    {FrameKind::kAllocator, "strdup", kLibc},
    {FrameKind::kAllocator, "je_malloc_default", kApp},
    {FrameKind::kAllocator, "", "/usr/lib/x86_64-linux-gnu/libjemalloc.so.2"},
    {FrameKind::kAllocator, "mi_heap_malloc_zero", "/usr/lib/libmimalloc.so.2"},
    {FrameKind::kAllocator, "tcmalloc::allocate_full_malloc_oom(unsigned long)", "/usr/lib/libtcmalloc.so.4"},
    {FrameKind::kAllocator, "", "/usr/lib/heapprof/libheapprof.so"},
    {FrameKind::kAllocator, "__rust_alloc", kApp},
    {FrameKind::kAllocator, "__rdl_alloc", kApp},
    {FrameKind::kAllocator, "_PyMem_RawMalloc", kPython},
    {FrameKind::kAllocator, "PyObject_Malloc", kPython},
    {FrameKind::kAllocator, "xmalloc", "/usr/lib/gcc/x86_64-linux-gnu/12/cc1plus"},
    {FrameKind::kAllocator, "g_malloc0", "/usr/lib/x86_64-linux-gnu/libglib-2.0.so.0"},
    {FrameKind::kAllocator, "cudaMalloc", "/usr/local/cuda/lib64/libcudart.so.12"},
    {FrameKind::kAllocator, "", "/usr/local/cuda/lib64/libcudart.so.12"},
    {FrameKind::kAllocator, "cudaMallocAsync", kApp},
    {FrameKind::kAllocator, "libcudart_static_1234abcd", kApp},
    {FrameKind::kAllocator, "c10::alloc_cpu(unsigned long)", "/usr/lib/libc10.so"},
    {FrameKind::kAllocator, "c10::cuda::CUDACachingAllocator::raw_alloc(unsigned long)", "/usr/lib/libc10_cuda.so"},
    {FrameKind::kUser, "cublasCreate_v2", "/usr/local/cuda/lib64/libcublas.so.12"},
    {FrameKind::kUser, "cuCtxCreate_v2", "/usr/lib/x86_64-linux-gnu/libcuda.so.1"},

    {FrameKind::kStandard, "std::vector<int, std::allocator<int> >::_M_realloc_insert<int const&>(int*, int const&)",
     kApp},
    {FrameKind::kStandard, "void std::vector<app::Row>::_M_realloc_insert<app::Row>(app::Row*, app::Row&&)", kApp},
    {FrameKind::kStandard, "__gnu_cxx::new_allocator<app::Row>::allocate(unsigned long, void const*)", kApp},
    {FrameKind::kStandard, "std::__cxx11::basic_string<char>::_M_create(unsigned long&, unsigned long)", kApp},
    {FrameKind::kStandard, "app::Row* std::__uninitialized_copy<false>::__uninit_copy<app::Row*>(app::Row*)", kApp},
    {FrameKind::kStandard, "", "/usr/lib/x86_64-linux-gnu/libstdc++.so.6"},
    {FrameKind::kStandard, "__cxa_thread_atexit", kApp},
    {FrameKind::kStandard, "alloc::alloc::exchange_malloc", kApp},
    {FrameKind::kStandard, "alloc::raw_vec::RawVec<T,A>::reserve::do_reserve_and_handle", kApp},
    {FrameKind::kStandard, "<alloc::alloc::Global as core::alloc::Allocator>::allocate", kApp},
    {FrameKind::kStandard, "<alloc::vec::Vec<T> as alloc::vec::spec_from_iter::SpecFromIter<T,I>>::from_iter", kApp},
    {FrameKind::kStandard, "<T as alloc::string::ToString>::to_string", kApp},
    {FrameKind::kStandard, "<u8 as alloc::slice::hack::ConvertVec>::to_vec", kApp},
    {FrameKind::kStandard, "<&str as core::convert::Into<T>>::into", kApp},
    {FrameKind::kStandard, "hashbrown::raw::RawTable<T,A>::reserve_rehash", kApp},
    {FrameKind::kStandard, "core::ops::function::FnOnce::call_once", kApp},
    {FrameKind::kStandard, "std::rt::lang_start::{{closure}}", kApp},

    {FrameKind::kRuntime, "_start", kApp},
    {FrameKind::kRuntime, "__libc_start_main", kLibc},
    {FrameKind::kRuntime, "__libc_start_call_main", kLibc},
    {FrameKind::kRuntime, "start_thread", kLibc},
    {FrameKind::kRuntime, "clone3", kLibc},
    {FrameKind::kRuntime, "_dl_map_object", "/lib64/ld-linux-x86-64.so.2"},
    {FrameKind::kRuntime, "_dl_init", "/usr/lib/x86_64-linux-gnu/ld-linux-x86-64.so.2"},
    {FrameKind::kRuntime, "fopen@@GLIBC_2.2.5", kLibc},
    {FrameKind::kRuntime, "", kLibc},

    {FrameKind::kUser, "main", kApp},
    {FrameKind::kUser, "build_index(Scene const&)", kApp},
    {FrameKind::kUser, "std::__cxx11::basic_string<char> app::join<int>(int const&)", kApp},
    {FrameKind::kUser, "std::pair<int, std::vector<int> > (anonymous namespace)::parse<true>(char const*)", kApp},
    {FrameKind::kUser, "app::std_like::grow()", kApp},
    {FrameKind::kUser, "stdx::vector::grow()", kApp},
    {FrameKind::kUser, "app::Pool::operator new(unsigned long)", kApp},
    {FrameKind::kUser, "malloc_stats_of_mine", kApp},
    {FrameKind::kUser, "main::{lambda(int)#1}::operator()(int) const", kApp},
    {FrameKind::kUser, "_GLOBAL__sub_I_index.cc", kApp},
    {FrameKind::kUser, "<app::Row as core::clone::Clone>::clone", kApp},
    {FrameKind::kUser, "<app::row::Builder<T> as app::Build>::build", kApp},
    {FrameKind::kUser, "app::main", kApp},
    {FrameKind::kUser, "PyList_New", kPython},
    {FrameKind::kUser, "_PyEval_EvalFrameDefault", kPython},
    {FrameKind::kUser, "sqlite3BtreeOpen", "/usr/lib/x86_64-linux-gnu/libsqlite3.so.0"},
    {FrameKind::kUser, "", kApp},  // stripped

    // Names that are another's elsewhere.
    {FrameKind::kUser, "core::Engine::load(int)", kApp},
    {FrameKind::kUser, "alloc::Table::rows() const", kApp},
    {FrameKind::kUser, "tc_create_table", kApp},
    {FrameKind::kUser, "mi_scan_open", kApp},
    {FrameKind::kUser, "je_parse", kApp},
    {FrameKind::kUser, "start_thread", kApp},
    {FrameKind::kUser, "call_init", kApp},
    {FrameKind::kUser, "sysmalloc", kApp},
    {FrameKind::kUser, "_dl_item", kApp},
    {FrameKind::kUser, "Builtins_init", kApp},
    {FrameKind::kRuntime, "Builtins_ArrayMap", kApp},
    {FrameKind::kAllocator, "mi_heap_malloc_zero", kApp},
    {FrameKind::kAllocator, "tc_new", kApp},
    {FrameKind::kAllocator, "je_arena_palloc", kApp},
    {FrameKind::kRuntime, "start_thread", ""},  // Valgrind names no module

    {FrameKind::kUnknown, "", ""},
};

// Innermost last in `functions`; returns the node of the innermost.
uint32_t push_stack(Profile* profile, const std::vector<std::string>& functions) {
  if (profile->nodes.empty()) profile->nodes.emplace_back();
  uint32_t node = 0;
  for (const std::string& function : functions) {
    Frame frame;
    frame.function = function;
    profile->frames.push_back(frame);
    profile->nodes.push_back({node, static_cast<uint32_t>(profile->frames.size() - 1)});
    node = static_cast<uint32_t>(profile->nodes.size() - 1);
  }
  return node;
}

}  // namespace

TEST_CASE("frames are told by their names") {
  for (const Seen& seen : kSeen) {
    INFO(seen.function << " in " << seen.module);
    CHECK(frame_kind(seen.function, seen.module) == seen.kind);
  }
}

TEST_CASE("a source file tells where a name cannot") {
  const Profile profile;
  Frame frame;
  frame.function = "new_arena";
  CHECK(frame_kind(profile, frame) == FrameKind::kUser);
  frame.file = "/build/python3.11/Objects/obmalloc.c";
  CHECK(frame_kind(profile, frame) == FrameKind::kUser);  // it takes a piece for everybody
  frame.function = "allocate_from_new_pool";
  CHECK(frame_kind(profile, frame) == FrameKind::kAllocator);
  frame.function = "allocate";
  frame.file = "/usr/include/c++/12/bits/new_allocator.h";
  CHECK(frame_kind(profile, frame) == FrameKind::kStandard);
}

TEST_CASE("a namespace called core is Rust's where the source is") {
  const Profile profile;
  Frame frame;
  frame.function = "core::Engine::load";
  CHECK(frame_kind(profile, frame) == FrameKind::kStandard);
  frame.file = "/rustc/0123/library/core/src/ptr.rs";
  CHECK(frame_kind(profile, frame) == FrameKind::kStandard);
  frame.file = "/home/me/game/engine.cpp";
  CHECK(frame_kind(profile, frame) == FrameKind::kUser);
}

TEST_CASE("Go's runtime and what cgo writes are no frames of the user's") {
  Profile profile;
  const uint32_t node = push_stack(&profile, {"runtime.main", "main.load", "main._Cfunc_make", "runtime.cgocall",
                                              "_cgo_dc65b1a8d003_Cfunc_make", "malloc"});
  profile.frames[0].file = "/usr/lib/go-1.19/src/runtime/proc.go";
  profile.frames[1].file = "/home/me/server/load.go";
  profile.frames[2].file = "_cgo_gotypes.go";
  profile.frames[3].file = "/usr/lib/go-1.19/src/runtime/cgocall.go";
  profile.frames[4].file = "/tmp/go-build/cgo-gcc-prolog";
  CHECK(user_frame(profile, node)->function == "main.load");
  profile.frames[1] = {};
  profile.frames[1].function = "runtime.start";  // a package of the user's with that name
  profile.frames[1].file = "/home/me/runtime/start.go";
  CHECK(user_frame(profile, node)->function == "runtime.start");
}

TEST_CASE("a fetched package's function is no place where a function of the user's called it") {
  Profile profile;
  const uint32_t node = push_stack(&profile, {"app::main", "map::Map<K>::insert", "map::grow"});
  profile.frames[0].file = "src/main.rs";
  profile.frames[1].file = "/home/me/.cargo/registry/src/a/map-1.2.0/src/lib.rs";
  profile.frames[2].file = profile.frames[1].file;
  CHECK(user_frame(profile, node)->function == "app::main");
  CHECK(build_place_tree(profile).place_node[node] == 1);
  profile.shows_libraries = true;
  CHECK(build_place_tree(profile).place_node[node] == node);
  profile.shows_libraries = false;
  profile.frames[0].file = profile.frames[1].file;  // the program itself is a package: cargo install
  CHECK(user_frame(profile, node)->function == "map::grow");
  CHECK(build_place_tree(profile).place_node[node] == node);
}

TEST_CASE("a site is named by the innermost frame that is the user's own") {
  Profile profile;
  const uint32_t node = push_stack(&profile, {"_start", "main", "load(char const*)",
                                              "std::vector<int>::push_back(int&&)", "operator new(unsigned long)"});
  REQUIRE(user_frame(profile, node) != nullptr);
  CHECK(user_frame(profile, node)->function == "load(char const*)");
}

TEST_CASE("without a user's frame the innermost beyond the allocator names the site") {
  Profile profile;
  const uint32_t node =
      push_stack(&profile, {"_start", "std::locale::classic()", "operator new(unsigned long)", "malloc"});
  CHECK(user_frame(profile, node)->function == "std::locale::classic()");
}

TEST_CASE("a stack of allocator frames is named by the innermost") {
  Profile profile;
  const uint32_t node = push_stack(&profile, {"operator new(unsigned long)", "malloc"});
  CHECK(user_frame(profile, node)->function == "malloc");
}

TEST_CASE("a site without a stack has no frame") {
  Profile profile;
  push_stack(&profile, {});
  CHECK(user_frame(profile, 0) == nullptr);
}
