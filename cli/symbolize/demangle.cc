// cli/symbolize/demangle.cc: readable names, from libiberty's demanglers, with bounds on what a hostile name may cost.
//
// A mangled name is a small program: substitutions copy earlier text, so that 200 bytes can expand to a gigabyte of
// text, and nesting takes stack. Input length is bounded here, nesting by libiberty (1024 when printing; when parsing,
// by the length). Output is bounded by taking it piece by piece through a callback, and leaving by longjmp when it is
// too long: the demanglers are C, own only stack while they print (Rust's may own one identifier), and cannot be
// stopped otherwise.
#include <algorithm>
#include <csetjmp>
#include <cstdlib>
#include <cstring>
#include <memory>
#include <string>
#include <string_view>

// libiberty.h declares its own basename unless this macro says that libc has one.
#define HAVE_DECL_BASENAME 1
#include "cli/symbolize/symbolizer.h"

#include <libiberty/demangle.h>

namespace heapprof::cli {
namespace {

// libiberty puts its working space on the stack, about 100 bytes for each byte of a C++ name: 16 KiB take 1.6 MB of 8.
constexpr size_t kMaxMangledBytes = 16 << 10;
constexpr size_t kMaxDemangledBytes = 64 << 10;
// Above this length libiberty refuses all C++ names unless its limit is switched off; real templates are longer.
constexpr size_t kLimitedByLibiberty = 1000;
// D's demangler has no callback form. Each back reference can at most double the text.
constexpr size_t kMaxDBytes = 1024;
constexpr ptrdiff_t kMaxDBackReferences = 12;

constexpr int kStyle = DMGL_PARAMS | DMGL_ANSI;

struct Sink {
  std::jmp_buf escape;
  size_t size;
  char text[kMaxDemangledBytes];
};

void append(const char* piece, size_t size, void* opaque) {
  Sink& sink = *static_cast<Sink*>(opaque);
  if (size > kMaxDemangledBytes - sink.size) std::longjmp(sink.escape, 1);
  std::memcpy(sink.text + sink.size, piece, size);
  sink.size += size;
}

using Demangler = int (*)(const char*, int, demangle_callbackref, void*);

// No object with a destructor may live here: longjmp skips destructors.
bool run(Demangler demangler, const char* name, int options, Sink* sink) {
  sink->size = 0;
  if (setjmp(sink->escape) != 0) return false;
  return demangler(name, options, append, sink) != 0;
}

std::string demangle_d(const std::string& name) {
  if (name.size() > kMaxDBytes || std::count(name.begin(), name.end(), 'Q') > kMaxDBackReferences) return {};
  std::unique_ptr<char, decltype(&std::free)> text(dlang_demangle(name.c_str(), kStyle), &std::free);
  return text ? std::string(text.get()) : std::string();
}

// "__store_MOD_load" is store::load, in lower case: gfortran converts names.
std::string demangle_fortran(std::string_view name) {
  constexpr std::string_view kMark = "_MOD_";
  const size_t at = name.find(kMark, 3);
  if (!name.starts_with("__") || at == name.npos) return {};
  const std::string_view module = name.substr(2, at - 2);
  const std::string_view procedure = name.substr(at + kMark.size());
  const auto is_name = [](std::string_view word) {
    constexpr std::string_view kLetters = "abcdefghijklmnopqrstuvwxyz0123456789_";
    return !word.empty() && word[0] >= 'a' && word[0] <= 'z' && word.find_first_not_of(kLetters) == word.npos;
  };
  if (!is_name(module) || !is_name(procedure)) return {};
  return std::string(module).append("::").append(procedure);
}

}  // namespace

std::string demangle_ada(const std::string& name) {
  if (name.size() > kMaxMangledBytes || name.find('\0') != std::string::npos) return name;
  const std::unique_ptr<char, decltype(&std::free)> text(ada_demangle(name.c_str(), 0), &std::free);
  const bool is_ada = text && text.get()[0] != '\0' && text.get()[0] != '<';  // other names get brackets
  return is_ada ? std::string(text.get()) : name;
}

std::string demangle(const std::string& name) {
  bool is_cpp = name.starts_with("_Z") || name.starts_with("___Z");
  bool is_rust = name.starts_with("_R");
  bool is_d = name.starts_with("_D");
  if (name.size() > kMaxMangledBytes || name.find('\0') != std::string::npos) return name;
  if (!is_cpp && !is_rust && !is_d) {
    std::string text = demangle_fortran(name);
    return text.empty() ? name : text;
  }
  if (is_d) {
    std::string text = demangle_d(name);
    return text.empty() ? name : text;
  }
  Sink sink;
  // Rust's legacy form is a C++ name whose last part is a hash, so Rust's demangler is tried first.
  if (run(rust_demangle_callback, name.c_str(), kStyle, &sink)) return std::string(sink.text, sink.size);
  if (is_rust) return name;
  int options = name.size() > kLimitedByLibiberty ? kStyle | DMGL_NO_RECURSE_LIMIT : kStyle;
  if (run(cplus_demangle_v3_callback, name.c_str(), options, &sink)) return std::string(sink.text, sink.size);
  return name;
}

}  // namespace heapprof::cli
