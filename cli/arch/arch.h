// cli/arch/arch.h: what the tool's sources need of the processor that it is built for.
//
// Each architecture has a folder with headers of the same names, and arch.h includes those of the one that the tool is
// built for. A source file in cli/arch/ARCHITECTURE/FOLDER/ is compiled into the library of cli/FOLDER, and defines
// functions that a header of that folder declares.
#pragma once

#if defined(__x86_64__)
#include "cli/arch/x86_64/code.h"
#include "cli/arch/x86_64/counter.h"
#include "cli/arch/x86_64/threads.h"
#elif defined(__aarch64__)
#include "cli/arch/aarch64/code.h"
#include "cli/arch/aarch64/counter.h"
#include "cli/arch/aarch64/threads.h"
#else
#error "The tool knows x86-64 and aarch64. Another architecture needs a folder of its own beside cli/arch/x86_64."
#endif
