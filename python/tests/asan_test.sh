#!/usr/bin/env bash
# asan_test.sh BUILD: the tests of the package with an extension module that Clang's address sanitizer
# watches. Debian's interpreter is not sanitized, so that the runtime is loaded before it, and leaks,
# of which the interpreter has its own, are not looked for. With threads, forks and signals.
set -euo pipefail

BUILD=$(readlink -f "$1")
HERE=$(dirname "$(readlink -f "${BASH_SOURCE[0]}")")
runtime=$(clang++ -print-file-name="libclang_rt.asan-$(uname -m).so")
cmake --build "$BUILD" --target tl_python
cd "$HERE"
LD_PRELOAD=$runtime ASAN_OPTIONS=detect_leaks=0:allocator_may_return_null=1 PYTHONMALLOC=malloc \
  PYTHONPATH=$BUILD/python:$BUILD/python_compat \
  /usr/bin/python3 -m pytest -q -p no:cacheprovider -k 'not cheap and not quick' \
  test_trace.py test_columns.py test_tree.py test_tables.py test_models.py test_jobs.py
