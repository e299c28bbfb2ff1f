# cmake -D IN=FILE -D OUT=FILE.c -D NAME=symbol -P embed.cmake: a file as an array of bytes with a zero behind it.
file(READ ${IN} bytes HEX)
string(REGEX REPLACE "(................................)" "\\1\n" bytes "${bytes}")
string(REGEX REPLACE "([0-9a-f][0-9a-f])" "0x\\1," bytes "${bytes}")
get_filename_component(from ${IN} NAME)
file(WRITE ${OUT} "// Made from ${from} by the build.\n#include \"sim_view_private.h\"\n\nconst unsigned char ${NAME}[] = {\n${bytes}0};\n")
