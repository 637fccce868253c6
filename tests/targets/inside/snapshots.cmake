target_include_directories(target_snapshots PRIVATE ${PROJECT_SOURCE_DIR}/shared/include)
