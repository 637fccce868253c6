// agent/nvtx/tables.h: how the agent comes into the tables of a program's NVTX.
//
// Where nobody has set NVTX's variable, it finds the agent there (variable.cc), opens it (hooks/own_library.h) and is
// given a function of ours by dlsym. None is exported: a tool that asks for its own by name gets its own. Where the
// variable names another tool, NVTX looks that tool's function up by dlsym, which gives out a function of ours instead:
// it lets the tool write its functions to the table, and then puts ours before them.
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
// What it is to answer where the agent itself was opened.
void* starter();
// True if the name is one of those.
bool starts_tool(const char* name);

// At the first look at the image: finds what is called for the program's getenv.
void settle_variable();

}  // namespace heapprof::agent::nvtx
