set_tests_properties(integration.programs PROPERTIES TIMEOUT 900 COST 200)
