// tests/bench/one_object.cc: malloc and operator new in one object, as large allocators have them, in a few
// instructions: a list of free blocks for each size. For a single thread; what it has is never given back.
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <new>

namespace {

constexpr size_t kClassBytes = 64;
constexpr size_t kClasses = 1024;
constexpr size_t kHeaderBytes = 16;

struct Free {
  Free* next;
};
Free* g_free[kClasses];
alignas(64) unsigned char g_memory[64 << 20];
size_t g_used;

// A block's class stands in front of it.
size_t& class_of(void* block) { return *reinterpret_cast<size_t*>(static_cast<unsigned char*>(block) - kHeaderBytes); }

void* allocate(size_t size_bytes) {
  const size_t index = (size_bytes + kHeaderBytes + kClassBytes - 1) / kClassBytes;
  if (index >= kClasses) return nullptr;
  if (Free* block = g_free[index]; block != nullptr) {
    g_free[index] = block->next;
    return block;
  }
  if (g_used + index * kClassBytes > sizeof g_memory) return nullptr;
  void* block = g_memory + g_used + kHeaderBytes;
  g_used += index * kClassBytes;
  class_of(block) = index;
  return block;
}

void release(void* block) {
  if (block == nullptr) return;
  Free*& list = g_free[class_of(block)];
  static_cast<Free*>(block)->next = list;
  list = static_cast<Free*>(block);
}

}  // namespace

extern "C" void* malloc(size_t size_bytes) { return allocate(size_bytes); }
extern "C" void free(void* block) { release(block); }
extern "C" void* calloc(size_t count, size_t size_bytes) {
  void* block = allocate(count * size_bytes);
  return block == nullptr ? nullptr : std::memset(block, 0, count * size_bytes);
}
extern "C" void* realloc(void* block, size_t size_bytes) {
  void* fresh = allocate(size_bytes);
  if (block == nullptr || fresh == nullptr) return fresh;
  const size_t old_bytes = class_of(block) * kClassBytes - kHeaderBytes;
  std::memcpy(fresh, block, old_bytes < size_bytes ? old_bytes : size_bytes);
  release(block);
  return fresh;
}

void* operator new(size_t size_bytes) { return allocate(size_bytes); }
void operator delete(void* block) noexcept { release(block); }
