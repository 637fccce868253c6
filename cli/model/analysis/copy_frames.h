// cli/model/analysis/copy_frames.h: recognises functions that by contract copy a whole value, grow a container by
// copying it, or read a whole file or stream.
//
// Not provided: what a user's own function does; is_named_copy() guesses it from the name. A buffer that a program
//           itself fills with read(2) or memcpy(3) is not recognised by any name.
// Trust:    names are untrusted: any bytes.
#pragma once

#include <string_view>

namespace heapprof::cli {

// A copy constructor or assignment of the standard library, strdup and its kin, Rust's to_vec and to_owned, and
// functions whose whole name is copy, clone, dup, duplicate or deepcopy (Table::clone, NDFrame.copy).
bool is_copying(std::string_view function);
// A function with one of these words in its name (copy_scene), if no word before it negates it (zero_copy_ring). It may
// be about copies and make none (clone_pool).
bool is_named_copy(std::string_view function);

// The standard library's functions that add an element or character to a full container: they allocate at least twice
// the room and copy all of it. `caller` is the next outer frame's function, inlined ones too.
bool is_growing(std::string_view function, std::string_view caller);
// Whether is_growing() returns true for the function with at least one caller.
bool may_be_growing(std::string_view function);
// Whether the function grows a std::vector or string in any way, including to a size that the call sets, as resize()
// does.
bool makes_room(std::string_view function);

// std::operator+ of strings, which makes a new string each time and copies the old ones.
bool is_concatenating(std::string_view function);

// Reads a file or stream to its end into memory: g_file_get_contents, std::fs::read, a string made of
// istreambuf_iterators …
bool is_reading_whole(std::string_view function);

}  // namespace heapprof::cli
