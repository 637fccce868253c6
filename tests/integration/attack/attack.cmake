# It fills its time with as many seeds as there are processors; what it finds it shrinks.
set_tests_properties(integration.attack PROPERTIES TIMEOUT 900 PROCESSORS 2 COST 500)
