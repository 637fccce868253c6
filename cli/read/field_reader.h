// cli/read/field_reader.h: fills the structures of cli/model/profile/fields.h from JSON objects.
//
// Guarantees
//  - Unknown names are skipped, missing ones keep their defaults, a repeated name is an error.
//  - Numbers are checked against the field they go into; text comes out without control characters.
#pragma once

#include "cli/base/text.h"
#include "cli/model/profile/fields.h"
#include "cli/read/json_pull.h"

#include <cstdint>
#include <functional>
#include <limits>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace heapprof::cli {

// Reads the members of objects by name, in any order here and in the file.
class MemberReader {
 public:
  struct Member {
    std::string_view name;
    std::function<void()> read;  // reads the value; errors stay in `json`
  };
  MemberReader(JsonPull* json, std::vector<Member> members)
      : json_(json), members_(std::move(members)), seen_(members_.size()) {}

  // Reads one object.
  void read();
  // Whether the object had a member of that name. pre: `name` is the name of a Member
  bool has(std::string_view name) const;

 private:
  void take(const std::string& key);

  JsonPull* json_;
  std::vector<Member> members_;
  std::vector<bool> seen_;
};

// Appends an array of numbers to `numbers`.
void read_numbers(JsonPull* json, std::vector<uint64_t>* numbers);

inline bool read_text(JsonPull* json, std::string* value) {
  if (!json->read_string(value)) return false;
  *value = escape_controls(*value);
  return true;
}

class FieldReader {
 public:
  FieldReader(JsonPull* json, std::string_view key) : json_(json), key_(key) {}

  template <typename T>
  void operator()(std::string_view name, T& value) {
    if (index_ < 0 && name == key_) {
      index_ = next_;
      read(&value);
    }
    ++next_;
  }
  int index() const { return index_; }  // index of the field that took the value; -1: no field did

 private:
  void read(bool* value) { json_->read_bool(value); }
  void read(uint64_t* value) { json_->read_unsigned(value); }
  void read(int64_t* value) { json_->read_signed(value); }
  void read(std::string* value) { read_text(json_, value); }
  void read(std::optional<uint64_t>* value) {
    uint64_t number = 0;
    if (json_->read_unsigned(&number)) *value = number;
  }
  void read(uint32_t* value) {
    uint64_t wide = 0;
    if (!json_->read_unsigned(&wide)) return;
    if (wide > std::numeric_limits<uint32_t>::max()) json_->fail("\"" + std::string(key_) + "\" is beyond 32 bits");
    *value = static_cast<uint32_t>(wide);
  }
  void read(int* value) {
    int64_t wide = 0;
    if (!json_->read_signed(&wide)) return;
    if (wide > std::numeric_limits<int>::max() || wide < std::numeric_limits<int>::min()) {
      json_->fail("\"" + std::string(key_) + "\" is beyond 32 bits");
      return;
    }
    *value = static_cast<int>(wide);
  }
  void read(EndKind* value) {
    std::string name;
    if (!json_->read_string(&name)) return;
    *value = parse_end_kind(name).value_or(EndKind::kUnknown);  // a later version may have more kinds
  }
  void read(HolderKind* value) {
    std::string name;
    if (!json_->read_string(&name)) return;
    *value = parse_holder_kind(name).value_or(HolderKind::kOther);  // likewise
  }
  void read(std::vector<std::string>* values) {
    values->clear();
    if (!json_->begin_array()) return;
    std::string text;
    while (json_->next_element() && read_text(json_, &text)) values->push_back(text);
  }

  JsonPull* json_;
  std::string_view key_;
  int next_ = 0;
  int index_ = -1;
};

// Reads one object; visit(reader) is a visit_… function applied to the structure.
template <typename VisitFields>
void read_struct(JsonPull* json, VisitFields&& visit) {
  if (!json->begin_object()) return;
  uint64_t seen = 0;
  std::string key;
  while (json->next_key(&key)) {
    FieldReader reader(json, key);
    visit(reader);
    if (reader.index() < 0) {
      json->skip_value();
      continue;
    }
    const uint64_t bit = uint64_t{1} << reader.index();
    if ((seen & bit) != 0) json->fail("the name \"" + key + "\" comes twice in one object");
    seen |= bit;
  }
}

// Reads an array of such objects.
template <typename Struct, typename Visit>
void read_structs(JsonPull* json, std::vector<Struct>* structs, Visit&& visit) {
  if (!json->begin_array()) return;
  while (json->next_element() && !json->failed()) {
    Struct& entry = structs->emplace_back();
    read_struct(json, [&](FieldReader& reader) { visit(entry, reader); });
  }
}

}  // namespace heapprof::cli
