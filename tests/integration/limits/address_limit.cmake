# It is about memory and moments: a neighbour's share of the processors changes both.
set_tests_properties(integration.address_limit PROPERTIES PROCESSORS 2)
