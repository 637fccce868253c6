// agent/nvtx/tables.h: how the agent comes into the tables of a program's NVTX.
//
// `heapprof run` names the agent in NVTX's variable: then NVTX loads the agent, which is there already, and calls the
// functions that tables.cc exports. Where the variable names another tool, NVTX looks that tool's function up by
// dlsym, which gives out a function of ours instead: it lets the tool write its functions to the table, and then puts
// ours before them.
//
// Guarantees
//  - The other tool gets every call that it asked for, and the program gets its answers and handles.
//  - Where nothing is recorded, the table stays as it was, and the other tool is called as without us.
// Not provided: a table whose functions are other ones than those of the first table. It stays that tool's own, and is
//               counted (Control::nvtx_left).
#pragma once

namespace heapprof::agent::nvtx {

// What dlsym is to answer for `name`, a function by which a tool is started, where the real one found `found` in
// another library; nullptr: that.
void* stand_before(const char* name, void* found);
// True if the name is one of those.
bool starts_tool(const char* name);

}  // namespace heapprof::agent::nvtx
