# It links in the build that integration.package links in: they take turns.
set_tests_properties(integration.debian_package PROPERTIES TIMEOUT 1800 COST 900 RESOURCE_LOCK package_build)
