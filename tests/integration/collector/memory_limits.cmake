# It is about memory and moments: a neighbour's share of the processors changes both.
set_tests_properties(integration.memory_limits PROPERTIES PROCESSORS 2)
