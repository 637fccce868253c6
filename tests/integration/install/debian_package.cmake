# It shares the build of integration.package: they take turns.
set_tests_properties(integration.debian_package PROPERTIES TIMEOUT 1800 PROCESSORS 2 COST 900 RESOURCE_LOCK package_build)
