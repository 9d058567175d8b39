# itm_add_fmu(name version identifier description sources...): an FMU of our own as a folder <name>/ and an archive <name>.fmu
# in the current build folder. version: 2 or 3; identifier: the modelIdentifier of the description.
function(itm_add_fmu name version identifier description)
  set(root ${CMAKE_CURRENT_BINARY_DIR}/${name})
  if(version EQUAL 2)
    set(platform linux64)
  else()
    set(platform ${CMAKE_SYSTEM_PROCESSOR}-linux)
  endif()
  add_library(fmu_${name} MODULE ${ARGN})
  set_target_properties(fmu_${name} PROPERTIES PREFIX "" OUTPUT_NAME ${identifier}
                        LIBRARY_OUTPUT_DIRECTORY ${root}/binaries/${platform})
  target_include_directories(fmu_${name} PRIVATE ${PROJECT_SOURCE_DIR}/examples/fmu ${PROJECT_SOURCE_DIR}/src/fmi)
  target_compile_options(fmu_${name} PRIVATE -Wall -Wextra -O2 -ffp-contract=off)
  target_link_libraries(fmu_${name} PRIVATE m)
  add_custom_command(TARGET fmu_${name} POST_BUILD
    COMMAND ${CMAKE_COMMAND} -E copy ${description} ${root}/modelDescription.xml
    COMMAND ${CMAKE_COMMAND} -E make_directory ${root}/resources
    COMMAND ${CMAKE_COMMAND} -E chdir ${root} ${CMAKE_COMMAND} -E tar cf ${CMAKE_CURRENT_BINARY_DIR}/${name}.fmu
            --format=zip modelDescription.xml binaries resources
    VERBATIM)
endfunction()
