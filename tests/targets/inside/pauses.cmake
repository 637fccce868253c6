target_include_directories(target_pauses PRIVATE ${PROJECT_SOURCE_DIR}/shared/include)
