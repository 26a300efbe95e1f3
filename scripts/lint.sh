#!/usr/bin/env bash
# lint.sh [format|style|headers|tidy|fix-format]...: without arguments all but the last.
#   format      would clang-format change a file?       fix-format  let it
#   style       the rules of tests/style/check_style.py
#   headers     does every header compile alone?
#   tidy        clang-tidy over the sources that changed since they last passed
set -euo pipefail
cd "$(dirname "$0")/.."

# What is tracked or would be, so that build folders and other people's files stay out.
sources() {
  git ls-files --cached --others --exclude-standard -- "$@" | while IFS= read -r file; do
    if [ -f "$file" ]; then printf '%s\0' "$file"; fi
  done
}

run_format() {
  echo "== clang-format"
  sources '*.h' '*.cc' | xargs -0 -r clang-format-19 --dry-run -Werror
}

run_fix_format() {
  echo "== clang-format, changing files"
  sources '*.h' '*.cc' | xargs -0 -r clang-format-19 -i
}

run_style() {
  echo "== style"
  python3 -B tests/style/check_style.py
}

run_headers() {
  scripts/build.sh lint --tests lone_headers
}

run_tidy() {
  scripts/build.sh lint --tests
  echo "== clang-tidy"
  scripts/tidy.py
}

[ $# -gt 0 ] || set -- format style headers tidy
for step in "$@"; do
  case $step in
    format | style | headers | tidy | fix-format) "run_${step//-/_}" ;;
    *)
      echo "lint: unknown step $step" >&2
      exit 2
      ;;
  esac
done
