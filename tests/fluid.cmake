# The continuum solver: transfers, grid, solids, pressure, sand.
foreach(module transfer solid world)
  cem_test(test_fluid_${module} unit/test_fluid_${module}.c unit fluid)
endforeach()
foreach(physics pressure sand)
  cem_test(test_fluid_${physics} reference/test_fluid_${physics}.c reference fluid)
endforeach()
cem_test(test_fluid_threads determinism/test_fluid_threads.c determinism fluid)
set_tests_properties(test_fluid_threads test_fluid_transfer PROPERTIES ENVIRONMENT OMP_WAIT_POLICY=passive)
