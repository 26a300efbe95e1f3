#!/usr/bin/env bash
# build.sh PRESET [--tests] [TARGET...]: configures build/PRESET where that is needed, then builds the targets.
# Without --tests a fresh build folder is configured without tests, so that it needs no test packages; one that
# has them keeps them. Without targets it only configures, always, so that compile_commands.json knows every file.
set -euo pipefail
cd "$(dirname "$0")/.."

preset=$1
shift
options=()
folder=build/$preset
if [ "${1:-}" = --tests ]; then
  shift
  grep -qs '^KNX_TESTS:BOOL=ON' "$folder/CMakeCache.txt" || options=(-DKNX_TESTS=ON)
elif [ ! -f "$folder/CMakeCache.txt" ]; then
  options=(-DKNX_TESTS=OFF)
fi

if [ $# -eq 0 ] || [ ${#options[@]} -gt 0 ] || [ ! -f "$folder/build.ninja" ] ||
  [ CMakePresets.json -nt "$folder/configured" ]; then
  echo "== configuring $folder"
  mkdir -p "$folder"
  if ! cmake --preset "$preset" "${options[@]}" >"$folder/configure.log" 2>&1; then
    cat "$folder/configure.log" >&2
    exit 1
  fi
  touch "$folder/configured"
fi

if [ $# -gt 0 ]; then
  echo "== building $* in $folder"
  cmake --build "$folder" -j "${JOBS:-$(nproc)}" --target "$@"
fi
