# It builds the tool a second time, on all cores, and may fetch a root file system: it begins first, so that others
# overlap with its waiting.
set_tests_properties(integration.package PROPERTIES TIMEOUT 1800 PROCESSORS 2 COST 1000 RESOURCE_LOCK package_build)
