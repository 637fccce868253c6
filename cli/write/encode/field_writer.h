// cli/write/encode/field_writer.h: the structures of cli/model/profile/fields.h as JSON objects.
#pragma once

#include "cli/model/profile/fields.h"
#include "cli/write/encode/json_stream.h"

#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace heapprof::cli {

// One visitor for all the structures of cli/model/profile/fields.h.
class FieldWriter {
 public:
  explicit FieldWriter(JsonWriter* json) : json_(json) {}
  void operator()(std::string_view name, const std::optional<uint64_t>& value) const {
    if (value) (*this)(name, *value);
  }
  template <typename T>
  void operator()(std::string_view name, const T& value) const {
    json_->key(name);
    write(value);
  }

 private:
  void write(bool value) const { json_->boolean(value); }
  void write(uint32_t value) const { json_->number(value); }
  void write(uint64_t value) const { json_->number(value); }
  void write(int value) const { json_->signed_number(value); }
  void write(int64_t value) const { json_->signed_number(value); }
  void write(EndKind value) const { json_->string(end_kind_name(value)); }
  void write(HolderKind value) const { json_->string(holder_kind_name(value)); }
  void write(const std::string& value) const { json_->string(value); }
  void write(const std::vector<std::string>& values) const {
    json_->begin_array();
    for (const std::string& value : values) json_->string(value);
    json_->end_array();
  }
  JsonWriter* json_;
};

// Writes a key and an object; write_fields() writes the object's members.
template <typename WriteFields>
void write_struct(std::string_view name, const WriteFields& write_fields, JsonWriter* json) {
  json->key(name);
  json->begin_object();
  write_fields();
  json->end_object();
  json->new_line();
}

// Writes a key and an array of objects; write_fields(entry) writes the members of each.
template <typename Struct, typename WriteFields>
void write_structs(std::string_view name, const std::vector<Struct>& structs, const WriteFields& write_fields,
                   JsonWriter* json) {
  json->key(name);
  json->begin_array();
  for (const Struct& entry : structs) {
    json->begin_object();
    write_fields(entry);
    json->end_object();
  }
  json->end_array();
  json->new_line();
}

}  // namespace heapprof::cli
