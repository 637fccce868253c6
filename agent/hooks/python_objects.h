// agent/hooks/python_objects.h: with --python-objects the agent stands before the allocator of CPython's objects.
//
// pymalloc takes arenas from the system and cuts objects out of them: the pages are seen, and who has them is not. The
// interpreter keeps what it allocates by in a table that may be exchanged (PyMem_SetAllocator). Ours calls what was
// there and records what begins and ends, as inner blocks of wire::kPythonDevice.
//
// Guarantees
//  - Nothing is exchanged where it was not asked for, or once an interpreter runs: other threads may be in the table.
//  - Each block is recorded once, however often the table was exchanged: the latest of ours alone records.
//  - What the program puts into the table, before us or after, is called as without us.
// Context:  settle: start-up. The rest: wherever the interpreter allocates.
// Cost:     155 ns a block that comes and goes (man/heapprof-run.1).
#pragma once

namespace heapprof::agent {

// Stands before the allocator of an interpreter that the program started with, where that was asked for; and looks from
// now on for one that comes, or that takes its own allocator again before it runs. In a forked child, that has been
// done. pre: the arena is mapped; no dlclose is running in another thread
void settle_python_objects();

// Objects are being unloaded: forgets the functions of an interpreter that is gone. The next one is found as the first
// one was.
void forget_unloaded_objects();

}  // namespace heapprof::agent
