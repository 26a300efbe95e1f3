#!/bin/sh
# compile.sh CCACHE COMPILER ARGUMENT...: compiles, by ccache except for precompiled headers. These remember when the
# files were changed that they are made of, and the compiler takes a file of another time for another file: one from
# the cache, made of the same text at another time, defines everything twice.
set -eu
ccache=$1
shift
for word in "$@"; do
  [ "$word" != c++-header ] || exec "$@"
done
# Without these two, ccache does not keep what was compiled with a precompiled header.
export CCACHE_SLOPPINESS=pch_defines,time_macros
exec "$ccache" "$@"
