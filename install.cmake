# cmake --install BUILD --prefix PREFIX: commands, libraries with headers and pkg-config files, shapes and scenes. The libraries
# are static, so each pkg-config file names all that is to be linked.
set(CEM_INSTALL_LIB lib) # the pkg-config files find the prefix two folders above themselves

# cem_install(NAME HEADERS REQUIRES SYSTEM): a library, its public headers, libraries of ours and of the system it needs.
function(cem_install name headers requires system)
  set(CEM_PC_NAME ${name})
  list(TRANSFORM requires PREPEND "cem-")
  list(JOIN requires ", " CEM_PC_REQUIRES)
  set(CEM_PC_SYSTEM -lm)
  foreach(library ${system})
    if(library STREQUAL threads)
      list(PREPEND CEM_PC_SYSTEM -pthread)
    else()
      list(PREPEND CEM_PC_SYSTEM ${${library}_LIBRARY})
    endif()
  endforeach()
  list(JOIN CEM_PC_SYSTEM " " CEM_PC_SYSTEM)
  configure_file(cem.pc.in cem-${name}.pc @ONLY)
  list(TRANSFORM headers PREPEND lib${name}/)
  install(FILES ${headers} DESTINATION include/cem)
  install(TARGETS ${name} ARCHIVE DESTINATION ${CEM_INSTALL_LIB}/cem)
  install(FILES ${CMAKE_CURRENT_BINARY_DIR}/cem-${name}.pc DESTINATION ${CEM_INSTALL_LIB}/pkgconfig)
endfunction()

cem_install(core "core.h;core_buffer.h;core_csv.h;core_h5.h;core_motion.h;core_run.h;core_yaml.h" "" "hdf5;yaml;threads")
cem_install(sdf sdf.h "core" geos)
cem_install(nn nn.h "core" openblas)
cem_install(cspace cspace.h "core;sdf;nn" "")
cem_install(sim "sim.h;sim_measure.h;sim_view.h" "core;sdf;cspace" "")
cem_install(fluid "fluid.h;fluid_run.h" "core;sdf" "")
install(TARGETS sdfgen csample nntrain mkmaps mapquery simulate simview simstat RUNTIME DESTINATION bin)
install(DIRECTORY shapes DESTINATION share/cem)
install(DIRECTORY data/scenes DESTINATION share/cem/data)
