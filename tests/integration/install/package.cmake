# It builds the tool a second time and may fetch a root file system.
set_tests_properties(integration.package PROPERTIES TIMEOUT 1800 RUN_SERIAL ON)
