// agent/nvtx/tables.h: how the agent gets into the tables of a program's NVTX.
//
// If NVTX's variable is not set, NVTX finds the agent there (variable.cc), opens it (hooks/own_library.h) and gets a
// function of the agent from dlsym. The agent exports no such function: a tool that looks up its own by name gets its
// own. If the variable names another tool, NVTX looks up that tool's function by dlsym, which returns a function of the
// agent instead. That function lets the tool write its functions to the table, and then puts the agent's before them.
//
// Guarantees
//  - The other tool gets every call that it asked for, and the program gets the tool's results and handles.
//  - If nothing is recorded, the table is unchanged, and the other tool is called as without the agent.
// Not provided: a table whose functions differ from those of the first table. It is left to that tool, and counted
//               (Control::nvtx_left).
#pragma once

namespace heapprof::agent::nvtx {

// What dlsym is to return for `name`, a function that starts a tool, if the real dlsym found `found` in another
// library; nullptr: `found`.
void* stand_before(const char* name, void* found);
// What dlsym is to return for such a name if its handle is the one that dlopen returned for the agent
// (hooks/own_library.h).
void* starter();
// True if `name` is a function that starts a tool.
bool starts_tool(const char* name);

// Called when the image is first examined: finds the real function for the program's getenv.
void settle_variable();

}  // namespace heapprof::agent::nvtx
