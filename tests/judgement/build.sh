#!/bin/bash
# build.sh DIR: builds all programs into DIR. Python and JavaScript files are copied. It skips languages without a tool.
set -u
[ $# -eq 1 ] || { echo "usage: $0 DIR" >&2; exit 2; }
here=$(cd "$(dirname "$0")" && pwd)
mkdir -p "$1" && out=$(cd "$1" && pwd) || exit 1
failed=0
try() { "$@" || { echo "failed: $*" >&2; failed=1; }; }

# Compile with the sources as the current folder, so that the debug information holds plain file names.
cd "$here" || exit 1
if command -v "${CC:-gcc}" >/dev/null; then
  try "${CC:-gcc}" -std=gnu11 -g -O2 -fPIC -shared -o "$out/libtextkit.so" lib/textkit.c
  for f in *.c; do
    try "${CC:-gcc}" -std=gnu11 -g -O2 -I. -o "$out/${f%.c}" "$f" -L"$out" -Wl,--as-needed -ltextkit -lm -Wl,-rpath,'$ORIGIN'
  done
else echo "no C compiler: C programs skipped" >&2; fi
if command -v "${CXX:-g++}" >/dev/null; then
  for f in *.cc; do try "${CXX:-g++}" -std=c++17 -g -O2 -pthread -o "$out/${f%.cc}" "$f"; done
else echo "no C++ compiler: C++ programs skipped" >&2; fi
if command -v rustc >/dev/null; then
  for f in *.rs; do try rustc --edition 2021 -g -O -o "$out/${f%.rs}" "$f"; done
else echo "no rustc: Rust programs skipped" >&2; fi
if [ -x /usr/bin/python3 ]; then
  for f in *.py; do try cp "$f" "$out/"; done
else echo "no /usr/bin/python3: Python programs skipped" >&2; fi
if command -v node >/dev/null; then
  for f in *.js; do try cp "$f" "$out/"; done
else echo "no node: JavaScript programs skipped" >&2; fi
exit $failed
