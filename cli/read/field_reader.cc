// cli/read/field_reader.cc: names are few and short, so comparing one after the other is as fast as any table.
#include "cli/read/field_reader.h"

namespace heapprof::cli {

void MemberReader::read() {
  if (!json_->begin_object()) return;
  std::string key;
  while (json_->next_key(&key)) take(key);
}

void MemberReader::take(const std::string& key) {
  for (size_t i = 0; i < members_.size(); ++i) {
    if (members_[i].name != key) continue;
    if (seen_[i]) {
      json_->fail("the name \"" + key + "\" comes twice in one object");
      json_->skip_value();
      return;
    }
    seen_[i] = true;
    members_[i].read();
    return;
  }
  json_->skip_value();
}

bool MemberReader::has(std::string_view name) const {
  for (size_t i = 0; i < members_.size(); ++i) {
    if (members_[i].name == name) return seen_[i];
  }
  return false;
}

void read_numbers(JsonPull* json, std::vector<uint64_t>* numbers) {
  if (!json->begin_array()) return;
  uint64_t value = 0;
  while (json->next_element() && json->read_unsigned(&value)) numbers->push_back(value);
}

}  // namespace heapprof::cli
