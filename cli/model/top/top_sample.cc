// cli/model/top/top_sample.cc: numbers are eight bytes each, texts and lists begin with their length.
//
// Both ends are of the same build (cli/target/top_wire.h), so the format has no versions. A list may be at most as long
// as the remaining bytes allow, so a wrong length costs no memory.
#include "cli/model/top/top_sample.h"

#include <cstring>
#include <limits>

namespace heapprof::cli {

namespace {

class Writer {
 public:
  void number(uint64_t value) {
    char bytes[sizeof value];
    std::memcpy(bytes, &value, sizeof value);
    bytes_.append(bytes, sizeof value);
  }
  void text(std::string_view value) {
    number(value.size());
    bytes_.append(value);
  }
  void reserve(size_t bytes) { bytes_.reserve(bytes); }
  std::string take() { return std::move(bytes_); }

 private:
  std::string bytes_;
};

class Reader {
 public:
  explicit Reader(std::string_view bytes) : rest_(bytes) {}

  uint64_t number() {
    uint64_t value = 0;
    if (rest_.size() < sizeof value) return fail();
    std::memcpy(&value, rest_.data(), sizeof value);
    rest_.remove_prefix(sizeof value);
    return value;
  }
  uint32_t small() {
    const uint64_t value = number();
    return static_cast<uint32_t>(value > std::numeric_limits<uint32_t>::max() ? fail() : value);
  }
  std::string text() {
    const uint64_t size = number();
    if (size > rest_.size()) {
      fail();
      return {};
    }
    std::string value(rest_.substr(0, size));
    rest_.remove_prefix(size);
    return value;
  }
  // Reads the length of a list. least_bytes: the size of the smallest entry.
  size_t count(size_t least_bytes) {
    const uint64_t entries = number();
    return entries > rest_.size() / least_bytes ? fail() : entries;
  }
  bool is_done() const { return is_sound_ && rest_.empty(); }

 private:
  uint64_t fail() {
    is_sound_ = false;
    rest_ = {};
    return 0;
  }

  std::string_view rest_;
  bool is_sound_ = true;
};

constexpr size_t kNumber = sizeof(uint64_t);

}  // namespace

std::string to_bytes(const TopSample& sample) {
  Writer out;
  constexpr size_t kSiteNumbers = 7;
  out.reserve(4096 + sample.sites.size() * kSiteNumbers * kNumber);
  for (const uint64_t value : {sample.age_ns, sample.lost_count, sample.scope_count, uint64_t{sample.is_whole}})
    out.number(value);
  out.number(sample.devices.size());
  for (const TopDevice& device : sample.devices) {
    out.text(device.name);
    for (const uint64_t value :
         {uint64_t{device.number}, device.live_bytes, device.live_blocks, device.peak_bytes, device.peak_ns,
          device.limit_bytes, device.refused_count, device.total_bytes, device.total_blocks, device.temporary_blocks})
      out.number(value);
  }
  out.number(sample.sites.size());
  for (const TopSite& site : sample.sites) {
    for (const uint64_t value : {uint64_t{site.device}, uint64_t{site.site}, site.live_bytes, site.live_blocks,
                                 site.total_bytes, site.total_blocks, site.temporary_blocks})
      out.number(value);
  }
  out.number(sample.scopes.size());
  for (const TopScope& scope : sample.scopes) {
    out.text(scope.path);
    for (const uint64_t value : {uint64_t{scope.id}, scope.begun_count, scope.open_count, scope.time_ns,
                                 scope.allocated_bytes, scope.freed_bytes, scope.peak_inside_bytes})
      out.number(value);
  }
  return out.take();
}

std::optional<TopSample> parse_top_sample(std::string_view bytes) {
  Reader in(bytes);
  TopSample sample;
  sample.age_ns = in.number();
  sample.lost_count = in.number();
  sample.scope_count = in.number();
  sample.is_whole = in.number() != 0;
  sample.devices.resize(in.count(11 * kNumber));
  for (TopDevice& device : sample.devices) {
    device.name = in.text();
    device.number = in.small();
    for (uint64_t* value :
         {&device.live_bytes, &device.live_blocks, &device.peak_bytes, &device.peak_ns, &device.limit_bytes,
          &device.refused_count, &device.total_bytes, &device.total_blocks, &device.temporary_blocks})
      *value = in.number();
  }
  sample.sites.resize(in.count(7 * kNumber));
  for (TopSite& site : sample.sites) {
    site.device = in.small();
    site.site = in.small();
    for (uint64_t* value :
         {&site.live_bytes, &site.live_blocks, &site.total_bytes, &site.total_blocks, &site.temporary_blocks})
      *value = in.number();
  }
  sample.scopes.resize(in.count(8 * kNumber));
  for (TopScope& scope : sample.scopes) {
    scope.path = in.text();
    scope.id = in.small();
    for (uint64_t* value : {&scope.begun_count, &scope.open_count, &scope.time_ns, &scope.allocated_bytes,
                            &scope.freed_bytes, &scope.peak_inside_bytes})
      *value = in.number();
  }
  if (!in.is_done()) return std::nullopt;
  return sample;
}

std::string to_bytes(const TopNames& names) {
  Writer out;
  out.number(names.places.size());
  for (const TopPlace& place : names.places) {
    out.text(place.function);
    out.text(place.location);
  }
  out.number(names.place_of_site.size());
  for (const uint32_t place : names.place_of_site) out.number(place);
  return out.take();
}

std::optional<TopNames> parse_top_names(std::string_view bytes) {
  Reader in(bytes);
  TopNames names;
  names.places.resize(in.count(2 * kNumber));
  for (TopPlace& place : names.places) {
    place.function = in.text();
    place.location = in.text();
  }
  names.place_of_site.resize(in.count(kNumber));
  for (uint32_t& place : names.place_of_site) {
    place = in.small();
    if (place > names.places.size()) return std::nullopt;
  }
  if (!in.is_done()) return std::nullopt;
  return names;
}

std::string to_bytes(const TopProcesses& processes) {
  Writer out;
  out.number(processes.pids.size());
  for (const uint32_t pid : processes.pids) out.number(pid);
  return out.take();
}

std::optional<TopProcesses> parse_top_processes(std::string_view bytes) {
  Reader in(bytes);
  TopProcesses processes;
  processes.pids.resize(in.count(kNumber));
  for (uint32_t& pid : processes.pids) pid = in.small();
  if (!in.is_done()) return std::nullopt;
  return processes;
}

std::string to_bytes(const TopEnd& end) {
  Writer out;
  out.text(end.how);
  out.text(end.path);
  out.number(end.duration_ns);
  out.number(end.devices.size());
  for (const TopEnd::Device& device : end.devices) {
    out.text(device.name);
    for (const uint64_t value : {device.peak_bytes, device.leaked_bytes, device.total_blocks}) out.number(value);
  }
  return out.take();
}

std::optional<TopEnd> parse_top_end(std::string_view bytes) {
  Reader in(bytes);
  TopEnd end;
  end.how = in.text();
  end.path = in.text();
  end.duration_ns = in.number();
  end.devices.resize(in.count(4 * kNumber));
  for (TopEnd::Device& device : end.devices) {
    device.name = in.text();
    for (uint64_t* value : {&device.peak_bytes, &device.leaked_bytes, &device.total_blocks}) *value = in.number();
  }
  if (!in.is_done()) return std::nullopt;
  return end;
}

}  // namespace heapprof::cli
