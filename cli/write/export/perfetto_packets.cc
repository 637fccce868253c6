// cli/write/export/perfetto_packets.cc: numbers of tracks and sequences begin at a hash of the profile's process, so
// that equal profiles give equal bytes, and the numbers of different profiles do not collide in joined traces.
#include "cli/write/export/perfetto_packets.h"

#include "cli/base/text.h"

namespace heapprof::cli::perfetto {
namespace {

// FNV-1a.
class Hash {
 public:
  void add(std::string_view bytes) {
    for (const char c : bytes) value_ = (value_ ^ static_cast<unsigned char>(c)) * 0x100000001b3;
  }
  void add(uint64_t number) {
    for (int shift = 0; shift < 64; shift += 8) value_ = (value_ ^ (number >> shift & 0xff)) * 0x100000001b3;
  }
  uint64_t value() const { return value_; }

 private:
  uint64_t value_ = 0xcbf29ce484222325;
};

uint64_t identity(const Profile& profile) {
  const RunInfo& run = profile.run;
  Hash hash;
  hash.add(run.pid);
  hash.add(run.image);
  hash.add(static_cast<uint64_t>(run.start_unix_ns));
  for (const std::string& word : run.command) hash.add(word);
  return hash.value();
}

}  // namespace

int32_t process_id(const Profile& profile) {
  const uint64_t pid = profile.run.pid;
  return pid > 0 && pid <= INT32_MAX ? static_cast<int32_t>(pid) : 1;
}

PacketStream::PacketStream(const Profile& profile, ByteSink* sink) : sink_(sink) {
  constexpr int64_t kUnknownStart = 1'000'000'000;  // 0 means no time
  constexpr uint64_t kTracks = 24;                  // low bits, for the numbers of tracks
  constexpr uint64_t kSequences = 10;               // likewise
  start_ns_ = static_cast<uint64_t>(profile.run.start_unix_ns > 0 ? profile.run.start_unix_ns : kUnknownStart);
  pid_ = process_id(profile);
  const uint64_t hash = identity(profile);
  next_track_ = (hash << kTracks) + 1;
  next_sequence_ = (static_cast<uint32_t>(hash >> 42) << kSequences) + 1;
  sequence_ = next_sequence();
}

uint64_t PacketStream::time(uint64_t since_start_ns) const {
  return start_ns_ + std::min(since_start_ns, static_cast<uint64_t>(INT64_MAX) - start_ns_);
}

uint64_t PacketStream::dump_time(uint64_t since_start_ns) {
  constexpr uint64_t kRoom = 1 << 20;  // left free below INT64_MAX
  uint64_t at = std::min(time(since_start_ns), static_cast<uint64_t>(INT64_MAX) - kRoom);
  while (!dump_times_.insert(at).second) ++at;
  return at;
}

int32_t PacketStream::thread(uint32_t id) const { return id > 0 && id <= INT32_MAX ? static_cast<int32_t>(id) : pid_; }

uint64_t PacketStream::intern(TextTable* table, Tag tag, std::string_view text, protozero::pbf_writer* interned) {
  const std::string shown = escape_controls(text);
  bool is_new = false;
  const uint64_t id = table->intern(shown, &is_new);
  if (is_new) {
    protozero::pbf_writer message(*interned, tag);
    message.add_uint64(interned::kId, id);
    message.add_string(interned::kText, shown);
  }
  return id;
}

void PacketStream::begin_event(const Event& it, protozero::pbf_writer* interned, protozero::pbf_writer* body) {
  const uint64_t category =
      intern(&categories_, interned::kCategory, it.category.empty() ? "heapprof" : it.category, interned);
  const uint64_t name = intern(&event_names_, interned::kEventName, it.name.empty() ? "[no name]" : it.name, interned);
  body->add_enum(event::kType, it.type);
  body->add_uint64(event::kTrack, it.track);
  body->add_uint64(event::kCategory, category);
  body->add_uint64(event::kName, name);
}

void PacketStream::Annotate::add(const std::string& name, uint64_t value) const {
  const uint64_t id = stream_->intern(&stream_->annotation_names_, interned::kAnnotationName, name, interned_);
  protozero::pbf_writer message(*annotations_, event::kAnnotation);
  message.add_uint64(annotation::kName, id);
  message.add_uint64(annotation::kUnsigned, value);
}

void PacketStream::Annotate::add_signed(const std::string& name, int64_t value) const {
  const uint64_t id = stream_->intern(&stream_->annotation_names_, interned::kAnnotationName, name, interned_);
  protozero::pbf_writer message(*annotations_, event::kAnnotation);
  message.add_uint64(annotation::kName, id);
  message.add_int64(annotation::kSigned, value);
}

void PacketStream::pass_on() {
  if (data_.size() < kBufferBytes) return;
  sink_->write(data_);
  data_.clear();
}

void PacketStream::finish() {
  sink_->write(data_);
  data_.clear();
}

}  // namespace heapprof::cli::perfetto
