// agent/nvtx/abi.h: the part of NVTX's binary interface that the agent uses (versions 2 and 3 of NVTX).
//
// Each object that was compiled with NVTX has a table of pointers to NVTX's functions. At its first call it loads the
// library that an environment variable names (wire::kNvtxVariable). It calls one function of that library and passes a
// function that returns the table. The library writes its own functions there; entries that it does not write do
// nothing from then on.
//
// Trust:    strings and tables are the program's memory; the program vouches for them, as towards every tool.
#pragma once

#include <stddef.h>
#include <stdint.h>

namespace heapprof::agent::nvtx {

using AnyFunction = void (*)();

// get(kCallbackTables) returns a CallbackTables.
using GetExportTable = const void* (*)(uint32_t id);
inline constexpr uint32_t kCallbackTables = 1;

struct CallbackTables {
  size_t struct_bytes;
  // 1: *slots has *count pointers to pointers of functions, by number; [0] is unused. 0: no such module.
  int (*get_module)(uint32_t module, AnyFunction*** slots, unsigned* count);
};

inline constexpr uint32_t kModuleCore = 1;
inline constexpr uint32_t kModuleCore2 = 5;  // domains: since version 2

// Starts a tool; returns 1 if it takes part.
using Initialize = int (*)(GetExportTable get);
// The names of that function: the first for versions 2 and 3 of the headers, the second for the older shared library.
inline constexpr char kInitializeName[] = "InitializeInjectionNvtx2";
inline constexpr char kOldInitializeName[] = "InitializeInjectionNvtx";

enum class MessageType : int32_t { kNone = 0, kAscii = 1, kWide = 2, kRegistered = 3 };
enum class PayloadType : int32_t { kNone = 0, kU64 = 1, kI64 = 2, kDouble = 3, kU32 = 4, kI32 = 5, kFloat = 6 };

// The handles that a tool gives to the program: a domain, and a string of a domain.
struct Domain;
struct String;

struct Attributes {
  uint16_t version;
  uint16_t size_bytes;
  uint32_t category;
  int32_t color_type;
  uint32_t color;
  PayloadType payload_type;
  int32_t reserved;
  uint64_t payload;
  MessageType message_type;
  const void* message;  // const char*, const wchar_t*, String*
};
static_assert(sizeof(Attributes) == 48 && offsetof(Attributes, payload) == 24 && offsetof(Attributes, message) == 40);

// What a push and a pop return if levels are not tracked, and after an error.
inline constexpr int kNoTracking = -2;
inline constexpr int kFailed = -1;

}  // namespace heapprof::agent::nvtx
