target_include_directories(target_instances PRIVATE ${PROJECT_SOURCE_DIR}/shared/include)
