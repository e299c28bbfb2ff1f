# The continuum solver: transfers, grid, solids, pressure, sand.
foreach(module multigrid transfer solid world)
  cem_test(test_fluid_${module} unit/test_fluid_${module}.c unit fluid)
endforeach()
foreach(physics motion pressure sand)
  cem_test(test_fluid_${physics} reference/test_fluid_${physics}.c reference fluid)
endforeach()
cem_test(test_fluid_threads determinism/test_fluid_threads.c determinism fluid)
cem_test(test_fluid_scene unit/test_fluid_scene.c unit fluid)
cem_test(test_fluid_run determinism/test_fluid_run.c determinism fluid)
cem_test(test_fluid_columns reference/test_fluid_columns.c slow fluid)
set_tests_properties(test_fluid_columns PROPERTIES TIMEOUT 1800)
add_test(NAME cli_simulate_continuum COMMAND bash ${CMAKE_CURRENT_SOURCE_DIR}/cli/simulate_continuum.sh ${CMAKE_BINARY_DIR}/bin
  ${CMAKE_SOURCE_DIR})
set_tests_properties(cli_simulate_continuum PROPERTIES LABELS cli TIMEOUT 300 ENVIRONMENT
  "LSAN_OPTIONS=suppressions=${CMAKE_CURRENT_SOURCE_DIR}/unit/hdf5.supp")

# What a step costs.
add_executable(bench_fluid bench/bench_fluid.c)
target_link_libraries(bench_fluid PRIVATE fluid cem_flags cem::cmocka m)
target_include_directories(bench_fluid PRIVATE ${CMAKE_CURRENT_SOURCE_DIR})
set_target_properties(bench_fluid PROPERTIES RUNTIME_OUTPUT_DIRECTORY ${CMAKE_BINARY_DIR}/tests)
add_test(NAME bench_fluid COMMAND bench_fluid)
set_tests_properties(bench_fluid PROPERTIES LABELS bench TIMEOUT 600)
