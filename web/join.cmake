# Joins the modules of web/ into one script and one style sheet, for embedding: imports and the word
# `export` go, and the order of this list takes their place. Indentation, empty lines and lines of comments go as
# well, which is a quarter of the text; everything else stays as it was written. No text in the sources goes over
# several lines, so that a line is never part of one (a test compares the programs). Sets TL_PAGE_SCRIPT,
# TL_PAGE_STYLE and their SHA-256.
#   include(${PROJECT_SOURCE_DIR}/web/join.cmake)
set(page_styles page.css pictures.css)
set(page_modules
  text.js
  dom.js
  data.js
  route.js
  drawer.js
  table.js
  search.js
  axes.js
  picture.js
  runs.js
  lanes.js
  icicle.js
  overview_runs.js
  view_overview.js
  view_timeline.js
  view_tree.js
  view_ops.js
  view_kernels.js
  view_roofline.js
  view_ranks.js
  view_diff.js
  view_memory.js
  view_tables.js
  view_about.js
  main.js)

function(tl_join_page out)
  set(joined "")
  foreach(name IN LISTS ARGN)
    set(path ${CMAKE_CURRENT_FUNCTION_LIST_DIR}/${name})
    set_property(DIRECTORY APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS ${path})
    file(READ ${path} text)
    # The policy of the page has the hash of these bytes, and they stand inside an element.
    if("${text}" MATCHES "\r|</script|</style|<!--|\\)page\"")
      message(FATAL_ERROR "web/${name} has a line end or a text that cannot stand in a page")
    endif()
    string(REGEX REPLACE "\nimport [^;]*;" "" text "\n${text}")
    string(REGEX REPLACE "\nexport " "\n" text "${text}")
    string(REGEX REPLACE "\n[ \t]+" "\n" text "${text}")
    string(REGEX REPLACE "\n//[^\n]*" "" text "${text}")
    string(REGEX REPLACE "\n/\\*([^*]|\\*+[^*/])*\\*+/" "\n" text "${text}")
    string(REGEX REPLACE "\n[ \n]+" "\n" text "${text}")
    string(APPEND joined "${text}")
  endforeach()
  set(${out} "${joined}" PARENT_SCOPE)
endfunction()

tl_join_page(TL_PAGE_SCRIPT ${page_modules})
string(PREPEND TL_PAGE_SCRIPT "'use strict';")
tl_join_page(TL_PAGE_STYLE ${page_styles})
string(SHA256 TL_PAGE_SCRIPT_SHA256 "${TL_PAGE_SCRIPT}")
string(SHA256 TL_PAGE_STYLE_SHA256 "${TL_PAGE_STYLE}")
