# Bytes of files as a C source: cmake -DSTYLE=... -DVIEWER=... -DOUT=... -P embed.cmake
function(embed name path out)
  file(READ ${path} hex HEX)
  string(LENGTH "${hex}" length)
  math(EXPR count "${length} / 2")
  string(REGEX REPLACE "([0-9a-f][0-9a-f])" "0x\\1," bytes "${hex}")
  set(${out} "static const unsigned char ${name}[] = {${bytes}0};\n\nItmReportAsset itm_report_get_${name}(void)\n{\n    return (ItmReportAsset){${name}, ${count}};\n}\n" PARENT_SCOPE)
endfunction()

embed(style ${STYLE} style)
embed(viewer ${VIEWER} viewer)
file(WRITE ${OUT} "// Made by the build from web/.\n#include \"report/report.h\"\n\n${style}\n${viewer}")
