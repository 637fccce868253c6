# It may fetch a root file system: it begins early, so that others overlap with its waiting. With
# HEAPPROF_PACK_FROM_SOURCES it compiles the tool a second time.
set_tests_properties(integration.package PROPERTIES TIMEOUT 1800 COST 1000 RESOURCE_LOCK package_build)
