# It is about memory and moments: a neighbour's share of the processors changes both.
set_tests_properties(integration.leak_check PROPERTIES PROCESSORS 2)
