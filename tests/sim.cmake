# The simulator: contact law, boundaries, broad and narrow phase, world, runs, and the command simulate.
foreach(module contact law boundary walls broad narrow pairs world)
  cem_test(test_sim_${module} unit/test_sim_${module}.c unit sim)
endforeach()
foreach(physics restitution rolling incline fixed energy losses figure3 stack impact symmetry rest)
  cem_test(test_sim_${physics} reference/test_sim_${physics}.c reference sim)
endforeach()
foreach(subject checkpoint threads output features)
  cem_test(test_sim_${subject} determinism/test_sim_${subject}.c determinism sim cem::hdf5)
endforeach()

# Bundles with random weights, for tests of commands that need maps in no time.
add_executable(make_maps fixtures/make_maps.c)
target_link_libraries(make_maps PRIVATE sim cem_flags m)
target_include_directories(make_maps PRIVATE ${CMAKE_CURRENT_SOURCE_DIR})
set_target_properties(make_maps PROPERTIES RUNTIME_OUTPUT_DIRECTORY ${CMAKE_BINARY_DIR}/tests)

add_test(NAME cli_simulate COMMAND bash ${CMAKE_CURRENT_SOURCE_DIR}/cli/simulate.sh ${CMAKE_BINARY_DIR}/bin)
set_tests_properties(cli_simulate PROPERTIES LABELS cli TIMEOUT 300)
add_test(NAME cli_restart COMMAND bash ${CMAKE_CURRENT_SOURCE_DIR}/cli/restart.sh ${CMAKE_BINARY_DIR}/bin)
set_tests_properties(cli_restart PROPERTIES LABELS cli TIMEOUT 300 ENVIRONMENT
  "LSAN_OPTIONS=suppressions=${CMAKE_CURRENT_SOURCE_DIR}/unit/hdf5.supp")
add_test(NAME cli_interrupted COMMAND bash ${CMAKE_CURRENT_SOURCE_DIR}/cli/interrupted.sh ${CMAKE_BINARY_DIR}/bin)
add_test(NAME cli_surroundings COMMAND bash ${CMAKE_CURRENT_SOURCE_DIR}/cli/surroundings.sh ${CMAKE_BINARY_DIR}/bin)
set_tests_properties(cli_surroundings PROPERTIES LABELS cli TIMEOUT 300)
set_tests_properties(cli_interrupted PROPERTIES LABELS cli TIMEOUT 300)
foreach(grains 2000 1000000)
  add_test(NAME cli_many_${grains} COMMAND bash ${CMAKE_CURRENT_SOURCE_DIR}/cli/many.sh ${CMAKE_BINARY_DIR}/bin ${grains})
  set_tests_properties(cli_many_${grains} PROPERTIES LABELS cli TIMEOUT 1800)
endforeach()
set_tests_properties(cli_many_1000000 PROPERTIES LABELS slow)
foreach(part numbers locale)
  add_test(NAME cli_${part} COMMAND bash ${CMAKE_CURRENT_SOURCE_DIR}/cli/${part}.sh ${CMAKE_BINARY_DIR}/bin)
  set_tests_properties(cli_${part} PROPERTIES LABELS cli TIMEOUT 900)
endforeach()

# What a step costs, on a settled pile.
add_executable(bench_step bench/bench_step.c)
target_link_libraries(bench_step PRIVATE sim cem_flags m)
target_include_directories(bench_step PRIVATE ${CMAKE_CURRENT_SOURCE_DIR})
set_target_properties(bench_step PROPERTIES RUNTIME_OUTPUT_DIRECTORY ${CMAKE_BINARY_DIR}/tests)
add_test(NAME bench_step COMMAND bench_step)
set_tests_properties(bench_step PROPERTIES LABELS bench TIMEOUT 600)

# The same on a settled pile of a scene, beside the bare kernels; needs a run: tests/bench/pile.sh.
add_executable(bench_pile bench/bench_pile.c)
target_link_libraries(bench_pile PRIVATE sim cem_flags m)
set_target_properties(bench_pile PROPERTIES RUNTIME_OUTPUT_DIRECTORY ${CMAKE_BINARY_DIR}/tests)

# The same pile in Chipmunk (Debian: libchipmunk-dev), where that is installed.
find_path(CEM_CHIPMUNK_INCLUDE chipmunk/chipmunk.h)
find_library(CEM_CHIPMUNK_LIBRARY chipmunk)
mark_as_advanced(CEM_CHIPMUNK_INCLUDE CEM_CHIPMUNK_LIBRARY)
if(CEM_CHIPMUNK_INCLUDE AND CEM_CHIPMUNK_LIBRARY)
  add_executable(bench_chipmunk bench/bench_chipmunk.c)
  target_include_directories(bench_chipmunk SYSTEM PRIVATE ${CEM_CHIPMUNK_INCLUDE})
  target_link_libraries(bench_chipmunk PRIVATE sim cem_flags ${CEM_CHIPMUNK_LIBRARY} m)
  set_target_properties(bench_chipmunk PROPERTIES RUNTIME_OUTPUT_DIRECTORY ${CMAKE_BINARY_DIR}/tests)
else()
  message(STATUS "bench_chipmunk: skipped, Chipmunk is not installed (Debian: libchipmunk-dev)")
endif()

# Golden states of the scenes in data/scenes. simulate_scalar finds no vector instructions whatever the processor: the files
# that ask for them are compiled with other answers.
set(no_vectors "-D__builtin_cpu_supports(x)=0")
add_library(scalar_avx2 OBJECT ${CMAKE_SOURCE_DIR}/libnn/nn_kernel_avx2.c)
target_compile_options(scalar_avx2 PRIVATE -mavx2 -mfma ${no_vectors})
target_link_libraries(scalar_avx2 PRIVATE core nn cem_flags)
add_library(scalar_avx512 OBJECT ${CMAKE_SOURCE_DIR}/libnn/nn_kernel_avx512.c)
target_compile_options(scalar_avx512 PRIVATE -mavx512f ${no_vectors})
target_link_libraries(scalar_avx512 PRIVATE core nn cem_flags)
add_executable(simulate_scalar ${CMAKE_SOURCE_DIR}/cmd/simulate.c ${CMAKE_SOURCE_DIR}/cmd/simulate_continuum.c
  ${CMAKE_SOURCE_DIR}/libcore/core_math.c
  ${CMAKE_SOURCE_DIR}/libsdf/sdf_near.c
  $<TARGET_OBJECTS:scalar_avx2> $<TARGET_OBJECTS:scalar_avx512>)
target_compile_options(simulate_scalar PRIVATE ${no_vectors})
target_link_libraries(simulate_scalar PRIVATE cmd_common core sdf cspace sim fluid cem_flags m)
set_target_properties(simulate_scalar PROPERTIES RUNTIME_OUTPUT_DIRECTORY ${CMAKE_BINARY_DIR}/tests)
add_test(NAME golden COMMAND bash ${CMAKE_CURRENT_SOURCE_DIR}/determinism/golden.sh ${CMAKE_BINARY_DIR}/bin ${CMAKE_SOURCE_DIR}
  $<TARGET_FILE:simulate_scalar>)
set_tests_properties(golden PROPERTIES LABELS determinism TIMEOUT 600)
add_test(NAME blas_threads COMMAND bash ${CMAKE_CURRENT_SOURCE_DIR}/determinism/blas_threads.sh ${CMAKE_BINARY_DIR}/bin ${CMAKE_SOURCE_DIR})
set_tests_properties(blas_threads PROPERTIES LABELS determinism TIMEOUT 600)

# Many discs beside published numbers, minutes each: contacts in closed form, and on trained maps (once for a build folder).
foreach(subject jamming columns silo)
  cem_test(test_discs_${subject} reference/test_discs_${subject}.c slow sim)
  set_tests_properties(test_discs_${subject} PROPERTIES TIMEOUT 7200)
endforeach()
add_test(NAME discs_column COMMAND bash ${CMAKE_CURRENT_SOURCE_DIR}/reference/discs_column.sh ${CMAKE_BINARY_DIR} 0.5)
add_test(NAME discs_packing COMMAND bash ${CMAKE_CURRENT_SOURCE_DIR}/reference/discs_packing.sh ${CMAKE_BINARY_DIR})
set_tests_properties(discs_column discs_packing PROPERTIES LABELS slow TIMEOUT 7200 RESOURCE_LOCK discs_maps)

# Random scenes: thirty of them; slow: others for a quarter of an hour (the last argument, in seconds).
add_executable(random_scenes determinism/random_scenes.c determinism/random_scene_text.c)
target_link_libraries(random_scenes PRIVATE sim cem_flags m)
target_include_directories(random_scenes PRIVATE ${CMAKE_CURRENT_SOURCE_DIR})
set_target_properties(random_scenes PROPERTIES RUNTIME_OUTPUT_DIRECTORY ${CMAKE_BINARY_DIR}/tests)
add_test(NAME random_scenes COMMAND random_scenes ${CMAKE_SOURCE_DIR} 1 30)
add_test(NAME random_scenes_long COMMAND random_scenes ${CMAKE_SOURCE_DIR} 1000 1000000 900)
set_tests_properties(random_scenes PROPERTIES LABELS determinism TIMEOUT 600)
set_tests_properties(random_scenes_long PROPERTIES LABELS slow TIMEOUT 1800)
