// tests/targets/attack/parts/books.cc: the file of the books. It is mapped by system calls of our own: a profile that
// has the attacker's mappings has none of these, and a child without descriptors can still take its book.
#include "books.h"

#include "../../raw_call.h"

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

namespace attack {

thread_local Note* t_notes = nullptr;
thread_local uint32_t t_step = 0;

namespace {
char* g_file = nullptr;
}  // namespace

bool open_books(const char* path, bool is_new) {
  const int file = open(path, O_RDWR | O_CLOEXEC | (is_new ? O_CREAT | O_TRUNC : 0), 0600);
  if (file < 0) return false;
  const size_t bytes = kHeadBytes + kMostProcesses * kBookBytes;
  if (is_new && ftruncate(file, static_cast<off_t>(bytes)) != 0) return false;
  const long mapped = raw_call(SYS_mmap, 0, static_cast<long>(bytes), PROT_READ | PROT_WRITE, MAP_SHARED, file, 0);
  close(file);
  if (mapped < 0 && mapped > -4096) return false;
  g_file = reinterpret_cast<char*>(mapped);
  if (is_new) {
    head()->site_count = kSites;
    head()->book_bytes = kBookBytes;
    for (auto& result : head()->results) result = INT64_MIN;
    head()->magic = kMagic;
  }
  return head()->magic == kMagic && head()->site_count == kSites;
}

BooksHead* head() { return reinterpret_cast<BooksHead*>(g_file); }
ProcessBook* book(uint32_t index) { return reinterpret_cast<ProcessBook*>(g_file + kHeadBytes + index * kBookBytes); }

uint32_t claim_book(const char* why) {
  const uint32_t index = head()->processes.fetch_add(1);
  if (index >= kMostProcesses) {
    static const char kFull[] = "attack: more processes than books\n";
    if (write(2, kFull, sizeof(kFull) - 1) < 0) _exit(98);
    _exit(98);
  }
  ProcessBook* mine = book(index);
  mine->index = index;
  mine->parent = index == 0 ? 0 : kMine->index;
  mine->step = t_step;
  for (size_t i = 0; i + 1 < sizeof(mine->why) && why[i] != 0; ++i) mine->why[i] = why[i];
  return index;
}

void enter_book(uint32_t index) {
  const long at = reinterpret_cast<long>(kMine);
  raw_call(SYS_mremap, reinterpret_cast<long>(book(index)), 0, kBookBytes, MREMAP_MAYMOVE | MREMAP_FIXED, at, 0);
  for (const Note* note = t_notes; note != nullptr; note = note->outer) {
    add(kMine->sites[note->site].slack_blocks, 1);
    add(kMine->sites[note->site].slack_bytes, note->bytes);
    excuse(kExcuseResumed);
  }
}

void excuse(uint32_t excuses) { kMine->excuses.fetch_or(excuses); }

}  // namespace attack
