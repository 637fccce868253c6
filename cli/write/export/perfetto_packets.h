// cli/write/export/perfetto_packets.h: the packets of one trace: their clock, sequences, and interned names.
//
// Guarantees
//  - Names used by add_event() and HeapSequence are interned before, in the same sequence.
//  - Two profiles have different sequences and tracks, unless hashes of process, command and start time are equal in 22
//    bits (sequences) or 40 bits (tracks). So their traces can be concatenated in one file.
#pragma once

#include "cli/base/byte_sink.h"
#include "cli/model/profile/profile.h"
#include "cli/write/export/perfetto_fields.h"

#include <protozero/pbf_writer.hpp>

#include <algorithm>
#include <cstdint>
#include <map>
#include <set>
#include <string>
#include <string_view>

namespace heapprof::cli::perfetto {

constexpr int64_t as_signed(uint64_t value) { return static_cast<int64_t>(std::min<uint64_t>(value, INT64_MAX)); }

// The process's id if it is valid; else 1.
int32_t process_id(const Profile& profile);

// Gives each text a number, from 1. The empty text has 0: no text.
class TextTable {
 public:
  // Sets *is_new if the text is new.
  uint64_t intern(const std::string& text, bool* is_new) {
    *is_new = false;
    if (text.empty()) return 0;
    const auto [entry, inserted] = ids_.emplace(text, ids_.size() + 1);
    *is_new = inserted;
    return entry->second;
  }

 private:
  std::map<std::string, uint64_t> ids_;
};

class PacketStream {
 public:
  PacketStream(const Profile& profile, ByteSink* sink);

  uint64_t time(uint64_t since_start_ns) const;  // of the wall clock, limited to an int64
  // The time of a heap's dump: as time(), but moved to the next nanosecond that no other dump has, because readers join
  // heaps by process and time.
  uint64_t dump_time(uint64_t since_start_ns);
  int32_t pid() const { return pid_; }
  int32_t thread(uint32_t id) const;
  uint64_t next_track() { return next_track_++; }
  uint32_t next_sequence() { return next_sequence_++; }

  // fill(protozero::pbf_writer* packet)
  template <typename Fill>
  void add(uint32_t sequence, uint32_t flags, const Fill& fill) {
    {
      protozero::pbf_writer trace(data_);
      protozero::pbf_writer message(trace, trace::kPacket);
      message.add_uint32(packet::kSequenceId, sequence);
      message.add_uint32(packet::kSequenceFlags, flags);
      fill(&message);
    }
    pass_on();
  }
  template <typename Fill>
  void add_plain(const Fill& fill) {
    add(sequence_, has_begun_ ? packet::kNeedsState : packet::kBeginsState, fill);
    has_begun_ = true;
  }
  template <typename Fill>
  void add_at(uint64_t since_start_ns, const Fill& fill) {
    add_plain([&](protozero::pbf_writer* message) {
      add_time(time(since_start_ns), message);
      fill(message);
    });
  }
  static void add_time(uint64_t time_ns, protozero::pbf_writer* message) {
    message->add_uint64(packet::kTimestamp, time_ns);
    message->add_uint32(packet::kTimestampClock, clocks::kRealtime);
  }

  // ---- named events ----

  struct Event {
    uint64_t at_ns;
    uint64_t track;
    event::Type type;
    std::string_view category;
    std::string_view name;
  };

  class Annotate {
   public:
    Annotate(PacketStream* stream, protozero::pbf_writer* interned, protozero::pbf_writer* annotations)
        : stream_(stream), interned_(interned), annotations_(annotations) {}
    void add(const std::string& name, uint64_t value) const;
    void add_signed(const std::string& name, int64_t value) const;

   private:
    PacketStream* stream_;
    protozero::pbf_writer* interned_;
    protozero::pbf_writer* annotations_;
  };

  // annotate(const Annotate&)
  template <typename AnnotateEvent>
  void add_event(const Event& it, const AnnotateEvent& annotate) {
    std::string interned;
    std::string message;
    protozero::pbf_writer names(interned);
    protozero::pbf_writer body(message);
    begin_event(it, &names, &body);
    annotate(Annotate(this, &names, &body));
    add_at(it.at_ns, [&](protozero::pbf_writer* packet) {
      if (!interned.empty()) packet->add_message(packet::kInternedData, interned);
      packet->add_message(packet::kTrackEvent, message);
    });
  }

  void finish();

 private:
  static constexpr size_t kBufferBytes = 64 << 10;

  void begin_event(const Event& it, protozero::pbf_writer* interned, protozero::pbf_writer* body);
  uint64_t intern(TextTable* table, Tag tag, std::string_view text, protozero::pbf_writer* interned);
  void pass_on();

  ByteSink* sink_;
  std::string data_;
  uint64_t start_ns_;
  int32_t pid_;
  uint64_t next_track_;
  uint32_t next_sequence_;
  uint32_t sequence_;  // of events on tracks
  bool has_begun_ = false;
  TextTable categories_;
  TextTable event_names_;
  TextTable annotation_names_;
  std::set<uint64_t> dump_times_;
};

}  // namespace heapprof::cli::perfetto
