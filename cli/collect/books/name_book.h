// cli/collect/books/name_book.h: the sums of the program's own names of memory, on one device: by name, and by name and
// site.
//
// Guarantees
//  - Sums are exact, as the sites' are: modulo 2^64, as the target could send any size.
//  - A block counts once for each name that it gets. If it gets the same name again, it does not count again.
// Not provided: which block has which name (the ledgers know it).
// Context:  one thread.
// Cost:     two look-ups in a tree a change; programs that name nothing make no change.
#pragma once

#include "cli/collect/books/site_book.h"

#include <algorithm>
#include <cstdint>
#include <map>
#include <utility>

namespace heapprof::cli {

struct NameSum {
  Amount live{};
  Amount max{};  // the most live bytes, and the blocks at that moment
  Amount total{};
};
struct NameOfSite {
  Amount live{};
  Amount total{};
};

class NameBook {
 public:
  using Sums = std::map<uint32_t, NameSum>;                           // by the name's number
  using Sites = std::map<std::pair<uint32_t, uint32_t>, NameOfSite>;  // by the name's number and the site

  bool empty() const { return sums_.empty(); }
  const Sums& sums() const { return sums_; }
  const Sites& sites() const { return sites_; }

  // A block gets the name. Without memory it throws std::bad_alloc, and at most an empty sum was added.
  void add(uint32_t name, uint32_t site, uint64_t size_bytes) { add(name, site, Amount{size_bytes, 1}); }
  void add(uint32_t name, uint32_t site, Amount amount) {
    NameSum& sum = sums_[name];
    NameOfSite& of_site = sites_[{name, site}];
    for (Amount* total : {&sum.total, &of_site.total})
      *total = {total->bytes + amount.bytes, total->blocks + amount.blocks};
    grow(&sum, &of_site, amount);
  }
  // A block loses the name. pre of all functions that follow: a block of that site has got the name
  void remove(uint32_t name, uint32_t site, uint64_t size_bytes) { shrink(name, site, {size_bytes, 1}); }
  // Undoes a remove().
  void restore(uint32_t name, uint32_t site, uint64_t size_bytes) { grow(name, site, {size_bytes, 1}); }
  // A part of a block is gone, or is there again.
  void shrink(uint32_t name, uint32_t site, Amount less) {
    for (Amount* live : {&sums_.at(name).live, &sites_.at({name, site}).live})
      *live = {live->bytes - less.bytes, live->blocks - less.blocks};
  }
  void grow(uint32_t name, uint32_t site, Amount more) { grow(&sums_.at(name), &sites_.at({name, site}), more); }

 private:
  static void grow(NameSum* sum, NameOfSite* of_site, Amount more) {
    for (Amount* live : {&sum->live, &of_site->live}) *live = {live->bytes + more.bytes, live->blocks + more.blocks};
    if (sum->live.bytes > sum->max.bytes) sum->max = sum->live;
  }

  Sums sums_;
  Sites sites_;
};

}  // namespace heapprof::cli
