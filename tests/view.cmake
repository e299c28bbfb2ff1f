# Drawing and measuring: libsim's sim_view and sim_measure, commands simview and simstat.

# Synthetic run files, as a library for unit tests and as the program make_run for tests of commands.
add_library(run_fixture STATIC fixtures/run_fixture.c)
target_include_directories(run_fixture PUBLIC ${CMAKE_CURRENT_SOURCE_DIR}/fixtures)
target_link_libraries(run_fixture PUBLIC core PRIVATE cem_flags m)
add_executable(make_run fixtures/make_run.c)
target_link_libraries(make_run PRIVATE run_fixture cem_flags)
set_target_properties(make_run PROPERTIES RUNTIME_OUTPUT_DIRECTORY ${CMAKE_BINARY_DIR}/tests)

cem_test(test_sim_view unit/test_sim_view.c unit run_fixture sim)
cem_test(test_sim_view_scene unit/test_sim_view_scene.c unit sim)
cem_test(test_sim_view_surface unit/test_sim_view_surface.c unit sim)
cem_test(test_sim_view_xdmf unit/test_sim_view_xdmf.c unit run_fixture sim)
cem_test(test_sim_measure unit/test_sim_measure.c unit run_fixture sim)
cem_test(test_sim_measure_contacts unit/test_sim_measure_contacts.c unit run_fixture sim)

foreach(command simview simstat)
  add_test(NAME cli_${command} COMMAND bash ${CMAKE_CURRENT_SOURCE_DIR}/cli/${command}.sh ${CMAKE_BINARY_DIR}/bin)
  set_tests_properties(cli_${command} PROPERTIES LABELS cli TIMEOUT 300)
endforeach()
# Pictures of runs that simulate made.
add_test(NAME cli_simview_scene COMMAND bash ${CMAKE_CURRENT_SOURCE_DIR}/cli/simview_scene.sh $<TARGET_FILE_DIR:simulate> ${CMAKE_SOURCE_DIR})
set_tests_properties(cli_simview_scene PROPERTIES LABELS cli TIMEOUT 300)
# The page in a browser, where there is one (tests/run --all installs it).
find_program(CEM_CHROMIUM chromium)
if(CEM_CHROMIUM)
  add_test(NAME simview_page COMMAND bash ${CMAKE_CURRENT_SOURCE_DIR}/cli/simview_page.sh $<TARGET_FILE_DIR:simulate>
    ${CMAKE_SOURCE_DIR} ${CEM_CHROMIUM})
  set_tests_properties(simview_page PROPERTIES LABELS slow TIMEOUT 600)
endif()
# The example of README.md in Python, where there is one with h5py.
find_program(CEM_PYTHON python3 PATHS /usr/bin NO_DEFAULT_PATH)
if(CEM_PYTHON)
  execute_process(COMMAND ${CEM_PYTHON} -c "import h5py" RESULT_VARIABLE without_h5py OUTPUT_QUIET ERROR_QUIET)
  if(NOT without_h5py)
    add_test(NAME h5py_example COMMAND bash ${CMAKE_CURRENT_SOURCE_DIR}/cli/h5py_example.sh $<TARGET_FILE_DIR:simulate>
      ${CMAKE_SOURCE_DIR} ${CEM_PYTHON})
    set_tests_properties(h5py_example PROPERTIES LABELS slow TIMEOUT 300)
  endif()
endif()

# Run files while they grow; kills and full disks at each write; kills of simulate at random moments.
cem_test(test_core_run_grow unit/test_core_run_grow.c unit run_fixture core)
cem_test(test_core_run_kill unit/test_core_run_kill.c unit run_fixture core)
foreach(kills 3 50)
  add_test(NAME cli_killed_${kills} COMMAND bash ${CMAKE_CURRENT_SOURCE_DIR}/cli/killed.sh ${CMAKE_BINARY_DIR}/bin ${kills})
  set_tests_properties(cli_killed_${kills} PROPERTIES LABELS cli TIMEOUT 900)
endforeach()
set_tests_properties(cli_killed_50 PROPERTIES LABELS slow)

add_test(NAME cli_figures COMMAND bash ${CMAKE_CURRENT_SOURCE_DIR}/cli/figures.sh $<TARGET_FILE_DIR:simulate> ${CMAKE_SOURCE_DIR})
set_tests_properties(cli_figures PROPERTIES LABELS cli TIMEOUT 600)

add_executable(bench_append bench/bench_append.c)
target_link_libraries(bench_append PRIVATE run_fixture core cem_flags)
target_include_directories(bench_append PRIVATE ${CMAKE_CURRENT_SOURCE_DIR})
set_target_properties(bench_append PROPERTIES RUNTIME_OUTPUT_DIRECTORY ${CMAKE_BINARY_DIR}/tests)
add_test(NAME bench_append COMMAND bench_append)
set_tests_properties(bench_append PROPERTIES LABELS bench TIMEOUT 600)
