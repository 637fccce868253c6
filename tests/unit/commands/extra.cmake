# The list of commands is part of the program, beside its main.
target_sources(unit_commands PRIVATE ${PROJECT_SOURCE_DIR}/cli/command_list.cc)
