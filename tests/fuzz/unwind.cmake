set(unwind_fuzz_sources byte_reader cfi_interpreter cfi_program dwarf_expression eh_frame unwind_rule_x86_64)
list(TRANSFORM unwind_fuzz_sources PREPEND ${PROJECT_SOURCE_DIR}/agent/unwind/)
list(TRANSFORM unwind_fuzz_sources APPEND .cc)
target_sources(fuzz_unwind PRIVATE ${unwind_fuzz_sources})
