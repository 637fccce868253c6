// cli/collect/rings/notes.cc: a note is read while its writer may still change it, and the writer may be hostile.
//
// There are few notes, and they are read at the end and when devices are looked up. So each is copied whole, its
// numbers are checked, and the control characters of its text are escaped: the text may be printed on a terminal.
#include "cli/collect/rings/notes.h"

#include "cli/base/file_name.h"
#include "cli/base/text.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <string>

namespace heapprof::cli {

namespace {

// Loads once: the compiler may turn one load into two, and the target may change the word between them.
template <typename Word>
Word load_once(const Word& word) {
  return *const_cast<const volatile Word*>(&word);
}

// A count below zero is a failed exec that was read half way.
uint64_t count_of(const std::atomic<uint32_t>& count) {
  const uint32_t value = count.load(std::memory_order_relaxed);
  return value > INT32_MAX ? 0 : value;
}

void add_program(UnprofiledProgram program, std::vector<UnprofiledProgram>* programs) {
  for (UnprofiledProgram& known : *programs) {
    if (known.path != program.path || known.reason != program.reason) continue;
    known.count += program.count;
    known.replaced_process = known.replaced_process || program.replaced_process;
    return;
  }
  programs->push_back(std::move(program));
}

void add_name(const std::string& name, std::vector<std::string>* names) {
  if (std::find(names->begin(), names->end(), name) == names->end()) names->push_back(name);
}

// UUID PCI_ID BYTES NAME: unknown fields are empty.
DeviceIdentity parse_identity(const std::string& text) {
  DeviceIdentity identity;
  std::string bytes;
  size_t at = 0;
  for (std::string* word : {&identity.uuid, &identity.pci_id, &bytes}) {
    const size_t end = std::min(text.find(' ', at), text.size());
    *word = escape_controls(text.substr(at, end - at));
    at = std::min(end + 1, text.size());
  }
  std::from_chars(bytes.data(), bytes.data() + bytes.size(), identity.memory_bytes);
  identity.product = escape_controls(text.substr(at));
  return identity;
}

}  // namespace

void read_notes(const wire::Note* notes, uint32_t claimed, Coverage* coverage, DeviceIdentities* devices) {
  for (uint32_t i = 0; i < std::min(claimed, wire::kMaxNotes); ++i) {
    const wire::Note& note = notes[i];
    if (note.ready.load(std::memory_order_acquire) != 1) continue;  // pairs with (F)
    const uint32_t text_bytes = load_once(note.text_bytes);
    if (text_bytes > sizeof note.text) continue;
    const std::string text(note.text, text_bytes);
    const uint64_t count = count_of(note.count);
    if (text.empty() || count == 0) continue;
    const uint32_t reason = load_once(note.reason);
    switch (load_once(note.kind)) {
      case wire::NoteKind::kImage:
        add_program(
            {text, wire::image_obstacle_text(static_cast<wire::ImageObstacle>(reason)), count, count_of(note.own) != 0},
            &coverage->unprofiled_programs);
        break;
      case wire::NoteKind::kBypass:
        if (static_cast<wire::BypassReason>(reason) == wire::BypassReason::kNames) {
          add_name(base_name(text) + ": its functions do not behave as an allocator's do in a copy of the process",
                   &coverage->unhooked_allocators);
        } else {
          add_name(text, &coverage->bypassing_modules);
        }
        break;
      case wire::NoteKind::kUnknownFunction:
        add_name(fmt::format("{} of CUDA {}.{}", text, reason / 1000, reason % 1000 / 10),
                 &coverage->unknown_functions);
        break;
      case wire::NoteKind::kDevice: devices->try_emplace(reason, parse_identity(text)); break;
    }
  }
}

}  // namespace heapprof::cli
