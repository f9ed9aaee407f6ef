#!/usr/bin/env bash
# asan_test.sh BUILD [PYTEST ARGUMENTS]: the tests of the packages with an extension module that Clang's address
# sanitizer watches: threads, forks, signals, hostile input. Debian's interpreter is not sanitized, so that the
# runtime is loaded before it, and leaks, of which the interpreter has its own, are not looked for.
set -euo pipefail

BUILD=$(readlink -f "$1")
HERE=$(dirname "$(readlink -f "${BASH_SOURCE[0]}")")
shift
runtime=$(clang++ -print-file-name="libclang_rt.asan-$(uname -m).so")
[[ -e $runtime ]] || { echo "error: Clang has no shared runtime of its address sanitizer here" >&2; exit 1; }
cmake --build "$BUILD" --target tl_python
# Tests of documents, notebooks and clusters run programs of their own. Of the others those are left out that measure
# memory, and those that run the command, which cannot start with this runtime loaded before it.
readonly LEFT_OUT='quick or freed_with_their_store or program_is_there or those_of_the_command'
(($#)) || set -- $(cd "$HERE" && ls test_*.py | grep -vE '^test_(docs|notebooks|fleet|fleet_engines)[.]py$')
cd "$HERE"
# What the interpreter allocates is to be seen, too: not from its own arenas.
LD_PRELOAD=$runtime ASAN_OPTIONS=detect_leaks=0:allocator_may_return_null=1:handle_segv=1 PYTHONMALLOC=malloc \
  PYTHONPATH=$BUILD/python:$BUILD/python_compat PYTHONDONTWRITEBYTECODE=1 \
  /usr/bin/python3 -m pytest -q -p no:cacheprovider -k "not ($LEFT_OUT)" "$@"
