#!/usr/bin/env bash
# python_test.sh BUILD_DIR: makes the wheels and the Debian packages of Python from that build, without a
# network, installs the wheels into a fresh virtual environment and uses them from another folder.
# PYTHON names the interpreter: one of the version the build is for, with NumPy and pandas.
set -euo pipefail
BUILD=$(readlink -f "$1")
ROOT=$(readlink -f "$(dirname "${BASH_SOURCE[0]}")/../..")
PYTHON=${PYTHON:-/usr/bin/python3}
SCRATCH=$(mktemp -d)
trap 'rm -rf "$SCRATCH"' EXIT
trap 'echo "FAIL  line $LINENO: $BASH_COMMAND"' ERR
export PIP_NO_INDEX=1 PIP_DISABLE_PIP_VERSION_CHECK=1 PIP_ROOT_USER_ACTION=ignore TRACELENS_BUILD_DIR=$BUILD
unset PYTHONPATH DESTDIR

fail() { echo "FAIL  $1"; exit 1; }
has() {  # has WHAT TEXT PATTERN
  grep -qE "$3" <<<"$2" || fail "$1: expected something like '$3', found:"$'\n'"$2"
}
same() { [[ $2 == "$3" ]] || fail "$1: expected '$3', found '$2'"; }
VERSION=$(sed -nE 's/^project\(TraceLens VERSION ([0-9.]+).*/\1/p' "$ROOT/CMakeLists.txt")
DEMO=$ROOT/tests/data/h200_gpt_train_amp.json.gz
TRY="import sys, tracelens as tl
report = tl.read('$DEMO').report()
print(tl.__version__, tl.__file__, len(report['ops_summary'].to_pandas()))"
environment() { "$PYTHON" -m venv --system-site-packages "$1"; }  # environment FOLDER

echo "wheels, from the build that is there"
cd "$SCRATCH"
"$PYTHON" -m pip wheel --quiet --no-deps --wheel-dir wheels "$ROOT" "$ROOT/python/compat"
same 'the wheels' "$(ls wheels | tr '\n' ' ')" \
  "tracelens_compat-$VERSION-py3-none-any.whl tracelens_native-$VERSION-$("$PYTHON" -c 'import sys, sysconfig
tag = "cp%d%d" % sys.version_info[:2]
print(tag, tag, sysconfig.get_platform().replace("-", "_"), sep="-")').whl "
SOURCE_DATE_EPOCH=1700000000 "$PYTHON" -m pip wheel --quiet --no-deps --wheel-dir again "$ROOT/python/compat"
SOURCE_DATE_EPOCH=1700000000 "$PYTHON" -m pip wheel --quiet --no-deps --wheel-dir twice "$ROOT/python/compat"
cmp again/*.whl twice/*.whl

echo "a fresh environment"
environment venv
venv/bin/pip install --quiet wheels/*.whl
said=$(venv/bin/python -c "$TRY")
has 'the installed package' "$said" "^$VERSION $SCRATCH/venv/.*/tracelens/__init__.py [1-9][0-9]*$"
has 'what pip knows' "$(venv/bin/pip show tracelens-compat)" '^Requires: pandas, tracelens-native$'
venv/bin/pip check | grep tracelens && fail 'pip says that something is missing'
venv/bin/python -c "import TraceLens; assert TraceLens.__tracelens_native__"
venv/bin/python -m tracelens --version | grep -qF "$VERSION"
venv/bin/tracelens info "$DEMO" | grep -q H200
for script in $(sed -nE 's/^(TraceLens_[a-z_]+) = .*/\1/p' "$ROOT/python/compat/pyproject.toml"); do
  has "$script" "$("venv/bin/$script" --help 2>&1)" '[Uu]sage'
done
venv/bin/pip uninstall --quiet --yes tracelens-compat tracelens-native
venv/bin/python -c 'import tracelens' 2>/dev/null && fail 'something is left of the package'

echo "an editable one: the build folder itself"
venv/bin/pip install --quiet --no-deps --editable "$ROOT"
has 'the editable package' "$(venv/bin/python -c "$TRY")" "^$VERSION $BUILD/python/tracelens/__init__.py "

echo "beside another TraceLens: a sentence, and nothing is touched"
environment other
site=$(other/bin/python -c 'import sysconfig; print(sysconfig.get_path("purelib"))')
mkdir "$site/TraceLens"
echo 'class TreePerfAnalyzer: pass' >"$site/TraceLens/__init__.py"
said=$(other/bin/pip install --no-deps "$ROOT/python/compat" 2>&1) && fail "it was replaced: $said"
has 'the sentence' "$said" "$site/TraceLens is another TraceLens"
same 'the other one' "$(<"$site/TraceLens/__init__.py")" 'class TreePerfAnalyzer: pass'

echo "settings"
said=$("$PYTHON" -m pip wheel --no-deps --config-settings speed=11 "$ROOT" 2>&1) && fail "$said"
has 'the sentence' "$said" 'no setting is called speed'

echo "source archives"
sdist() {  # sdist PROJECT BACKEND: what the hook makes
  (cd "$1" && PYTHONPATH=$ROOT/python "$PYTHON" -B -c "import ${2%:*} as module
print(module.${2#*:}.build_sdist('$SCRATCH'))")
}
same 'its name' "$(sdist "$ROOT" tracelens_build:native)" "tracelens_native-$VERSION.tar.gz"
listed=$(tar tf "tracelens_native-$VERSION.tar.gz")
for file in PKG-INFO CMakeLists.txt pyproject.toml python/tracelens_build.py python/tracelens/__init__.py; do
  has 'the archive' "$listed" "^tracelens_native-$VERSION/$file$"
done
same 'its name' "$(sdist "$ROOT/python/compat" tracelens_compat_build:compat)" \
  "tracelens_compat-$VERSION.tar.gz"
"$PYTHON" -m pip wheel --quiet --no-deps --wheel-dir from_source "tracelens_compat-$VERSION.tar.gz"
listing() { "$PYTHON" -m zipfile --list "$1" | awk '{print $1, $NF}'; }
cmp <(listing wheels/tracelens_compat-*.whl) <(listing from_source/tracelens_compat-*.whl)

echo "Debian packages"
cpack --config "$BUILD/CPackConfig.cmake" -B deb -D 'CPACK_COMPONENTS_ALL=python;compat' >/dev/null 2>&1
native=$(ls deb/python3-tracelens_*.deb) compat=$(ls deb/python3-tracelens-compat_*_all.deb)
has 'what it depends on' "$(dpkg-deb --field "$native" Depends)" \
  '^python3 \(>= 3\.[0-9]+\), python3 \(<< 3\.[0-9]+\), python3-numpy, .*libc6'
has 'what it loads' "$(dpkg-deb --field "$native" Depends)" 'libzip[0-9]'
has 'what it recommends' "$(dpkg-deb --field "$native" Recommends)" '^python3-pandas, tracelens'
has 'what it depends on' "$(dpkg-deb --field "$compat" Depends)" \
  "python3-tracelens \(= $VERSION\), python3-pandas"
for package in "$native" "$compat"; do
  dpkg-deb --extract "$package" root
  dpkg-deb --control "$package" "control"
  for script in control/p*; do sh -n "$script" && [[ -x $script ]]; done
done
[[ -z $(find root -name __pycache__) ]] || fail 'byte code in the packages'
has 'the unpacked package' \
  "$(PYTHONPATH=root/usr/lib/python3/dist-packages "$PYTHON" -B -c "$TRY")" "^$VERSION $SCRATCH/root/.* [1-9][0-9]*$"
same 'its metadata' "$(PYTHONPATH=root/usr/lib/python3/dist-packages "$PYTHON" -B -c \
  'import importlib.metadata as m; print(m.version("tracelens-native"), m.version("tracelens-compat"))')" \
  "$VERSION $VERSION"
if command -v lintian >/dev/null; then
  # The maintainer's address is a placeholder in all packages.
  said=$(lintian --suppress-tags bogus-mail-host,bogus-mail-host-in-debian-changelog \
    --allow-root "$native" "$compat" 2>/dev/null) || fail "lintian: $said"
  same lintian "$said" ''
else
  echo "no lintian: not checked"
fi
echo "fine"
