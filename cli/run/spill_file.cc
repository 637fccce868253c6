// cli/run/spill_file.cc: see spill_file.h. The lists' elements are written as their bytes in memory, because they are
// plain numbers, and only the process that wrote the file reads it.
#include "cli/run/spill_file.h"

#include <fcntl.h>
#include <stdlib.h>
#include <sys/types.h>
#include <unistd.h>

#include <cerrno>
#include <type_traits>

namespace heapprof::cli {

namespace {

// Calls with(list) for each list that is moved to disk.
template <typename R, typename F>
void for_each_list(R& recording, F with) {
  with(recording.locations);
  with(recording.stacks);
  for (auto& device : recording.devices) {
    with(device.sites);
    with(device.timeline.buckets);
    with(device.moments_ns);
    with(device.live_bytes);
    with(device.sizes);
    with(device.steps);
    with(device.bounds_ns);
    with(device.stays);
  }
}

template <typename List>
using Element = typename std::remove_reference_t<List>::value_type;

bool write_all(int fd, const void* data, uint64_t size_bytes, uint64_t at_off) {
  const char* bytes = static_cast<const char*>(data);
  while (size_bytes != 0) {
    const ssize_t done = pwrite(fd, bytes, size_bytes, static_cast<off_t>(at_off));
    if (done < 0 && errno == EINTR) continue;
    if (done <= 0) return false;
    bytes += done;
    at_off += static_cast<uint64_t>(done);
    size_bytes -= static_cast<uint64_t>(done);
  }
  return true;
}

bool read_all(int fd, void* data, uint64_t size_bytes, uint64_t at_off) {
  char* bytes = static_cast<char*>(data);
  while (size_bytes != 0) {
    const ssize_t done = pread(fd, bytes, size_bytes, static_cast<off_t>(at_off));
    if (done < 0 && errno == EINTR) continue;
    if (done <= 0) return false;
    bytes += done;
    at_off += static_cast<uint64_t>(done);
    size_bytes -= static_cast<uint64_t>(done);
  }
  return true;
}

UniqueFd open_nameless(const std::string& folder) {
  UniqueFd fd(open(folder.c_str(), O_TMPFILE | O_RDWR | O_CLOEXEC, 0600));
  if (fd.is_open()) return fd;
  std::string name = folder + "/.heapprof.XXXXXX";  // a file system without O_TMPFILE
  fd = UniqueFd(mkostemp(name.data(), O_CLOEXEC));
  if (fd.is_open()) unlink(name.c_str());
  return fd;
}

}  // namespace

uint64_t spillable_bytes(const Recording& recording) {
  uint64_t sum = 0;
  for_each_list(recording, [&sum](const auto& list) { sum += list.capacity() * sizeof(Element<decltype(list)>); });
  return sum;
}

bool SpillFile::put(Recording* recording, Extent* extent) {
  if (!fd_.is_open()) fd_ = open_nameless(folder_);
  if (!fd_.is_open()) return false;
  uint64_t at_off = end_off_;
  bool is_written = true;
  extent->counts.clear();
  for_each_list(*recording, [&](const auto& list) {
    using T = Element<decltype(list)>;
    static_assert(std::is_trivially_copyable_v<T>);
    extent->counts.push_back(list.size());
    is_written = is_written && write_all(fd_.get(), list.data(), list.size() * sizeof(T), at_off);
    at_off += list.size() * sizeof(T);
  });
  if (!is_written) {
    // The lists that were written so far are cut off. If that fails, the next put() overwrites them.
    [[maybe_unused]] const int cut = ftruncate(fd_.get(), static_cast<off_t>(end_off_));
    return false;
  }
  for_each_list(*recording, [](auto& list) { std::remove_reference_t<decltype(list)>().swap(list); });  // frees

  extent->start_off = end_off_;
  extent->size_bytes = at_off - end_off_;
  end_off_ = at_off;
  return true;
}

bool SpillFile::take(const Extent& extent, Recording* recording) {
  uint64_t at_off = extent.start_off;
  size_t next = 0;
  bool is_read = true;
  for_each_list(*recording, [&](auto& list) {
    using T = Element<decltype(list)>;
    list.resize(extent.counts[next++]);
    is_read = is_read && read_all(fd_.get(), list.data(), list.size() * sizeof(T), at_off);
    at_off += list.size() * sizeof(T);
  });
  if (extent.size_bytes != 0) {
    fallocate(fd_.get(), FALLOC_FL_PUNCH_HOLE | FALLOC_FL_KEEP_SIZE, static_cast<off_t>(extent.start_off),
              static_cast<off_t>(extent.size_bytes));
  }
  return is_read;
}

}  // namespace heapprof::cli
