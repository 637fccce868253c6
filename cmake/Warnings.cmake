# One interface target carries the warnings; they are errors.
add_library(heapprof_warnings INTERFACE)
target_compile_options(heapprof_warnings INTERFACE -Wall -Wextra -Wpedantic -Wshadow -Wconversion -Wno-sign-conversion
                                                   -Wnon-virtual-dtor -Wcast-qual -Wvla -Werror)
