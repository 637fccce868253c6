// cli/model/profile/alike_frames.cc: a profile has up to about 100,000 frames, and storing their texts would take as
// many strings. So each text is made in one buffer and only its hash is kept; if two hashes are equal, the texts are
// made again and compared.
#include "cli/model/profile/alike_frames.h"

#include "cli/base/text.h"
#include "cli/model/profile/frame_text.h"
#include "cli/model/profile/recursion_frame.h"

#include <algorithm>
#include <functional>
#include <string>
#include <utility>

namespace heapprof::cli {
namespace {

bool is_recursion_frame(const Frame& frame) { return frame.svma == 0 && recursion_frames(frame.function) != 0; }

constexpr size_t kMostNameBytes = 64 << 10;  // a template's name can be endless

void clean_name(std::string* name) {
  if (!is_printable_ascii(*name)) *name = escape_controls(*name);
  if (name->size() <= kMostNameBytes) return;
  size_t end = kMostNameBytes;
  while (end > 0 && (static_cast<unsigned char>((*name)[end]) & 0xc0) == 0x80) --end;  // not inside a character
  name->resize(end);
  *name += "…";
}

// A hash table of frames by their texts: open addressing, never more than half full.
class TextTable {
 public:
  explicit TextTable(const Profile& profile) : profile_(profile) {
    size_t slots = 64;
    while (slots < 2 * profile.frames.size()) slots *= 2;
    slots_.resize(slots);
  }

  // The first frame that was added with this one's text.
  uint32_t find_or_add(uint32_t frame) {
    set_text(frame, &text_);
    const uint64_t hash = std::hash<std::string_view>()(text_);
    for (size_t at = hash & (slots_.size() - 1);; at = (at + 1) & (slots_.size() - 1)) {
      Slot& slot = slots_[at];
      if (slot.frame_plus_one == 0) {
        slot = {hash, frame + 1};
        return frame;
      }
      if (slot.hash == hash && has_text(slot.frame_plus_one - 1)) return slot.frame_plus_one - 1;
    }
  }

 private:
  struct Slot {
    uint64_t hash = 0;
    uint32_t frame_plus_one = 0;  // 0: free
  };

  bool has_text(uint32_t frame) {
    set_text(frame, &other_);
    return other_ == text_;
  }

  void set_text(uint32_t frame, std::string* text) const {
    text->clear();
    append_frame_text(profile_, profile_.frames[frame], text);
    if (is_recursion_frame(profile_.frames[frame])) *text = without_recursion_frames(std::move(*text));
  }

  const Profile& profile_;
  std::vector<Slot> slots_;
  std::string text_;
  std::string other_;
};

}  // namespace

std::vector<uint32_t> merge_alike_frames(Profile* profile) {
  for (ProfileModule& module : profile->modules) clean_name(&module.path);
  TextTable known(*profile);
  std::vector<uint32_t> stands_for(profile->frames.size());
  for (uint32_t i = 0; i < profile->frames.size(); ++i) {
    Frame& frame = profile->frames[i];
    clean_name(&frame.function);
    clean_name(&frame.file);
    if (frame.module >= profile->modules.size()) frame.module = kNoModule;
    stands_for[i] = known.find_or_add(i);
    if (stands_for[i] == i) continue;
    // Frames that read alike may differ in data that is not in the text. The result must not depend on their order.
    Frame& first = profile->frames[stands_for[i]];
    first.module = std::min(first.module, frame.module);
    first.inlined = first.inlined || frame.inlined;
    first.inferred = first.inferred || frame.inferred;
    if (is_recursion_frame(frame) && recursion_frames(first.function) < recursion_frames(frame.function))
      first.function = frame.function;
  }
  return stands_for;
}

std::vector<uint32_t> find_alike_frames(const Profile& profile) {
  TextTable known(profile);
  std::vector<uint32_t> stands_for(profile.frames.size());
  for (uint32_t i = 0; i < profile.frames.size(); ++i) stands_for[i] = known.find_or_add(i);
  return stands_for;
}

FrameOrder frame_order(const Profile& profile, uint32_t index) {
  const Frame& frame = profile.frames[index];
  const std::string_view module =
      frame.module < profile.modules.size() ? std::string_view(profile.modules[frame.module].path) : std::string_view();
  return {frame.function, frame.file, frame.line, module, frame.svma};
}

bool stands_for_no_stack(const Frame& frame) { return frame.svma == 0 && frame.function == kNoStackText; }

}  // namespace heapprof::cli
