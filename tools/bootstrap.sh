# bootstrap.sh: what ./tracelens and ./test share; sourced by both, never run.
#   source "$ROOT/tools/bootstrap.sh"; tl_install_packages build test
# Needs only what a bare Debian 12 has: bash, coreutils, findutils, dpkg, apt.

TL_PACKAGE_LIST=$ROOT/tools/debian-packages.txt

tl_say() { printf 'tracelens: %s\n' "$*" >&2; }

# tl_packages SECTION...: the package names of these sections of the list.
tl_packages() {
  local line section=''
  while IFS= read -r line; do
    case $line in
      '' | '#'*) ;;
      '['*']') section=${line//[][]/} ;;
      *) [[ " $* " == *" $section "* ]] && printf '%s\n' "$line" ;;
    esac
  done <"$TL_PACKAGE_LIST"
  return 0
}

# tl_missing_packages SECTION...: those of them that are not installed.
tl_missing_packages() {
  local package
  for package in $(tl_packages "$@"); do
    [[ $(dpkg-query -W -f '${db:Status-Status}' "$package" 2>/dev/null) == installed ]] ||
      printf '%s\n' "$package"
  done
}

# tl_retry COMMAND...: a mirror can be slow or busy for a moment.
tl_retry() {
  local pause
  for pause in 2 5 0; do
    "$@" && return 0
    sleep "$pause"
  done
  return 1
}

# tl_install_packages SECTION...: installs what is missing, unless TRACELENS_INSTALL is no; silent
# when nothing is missing. Returns 1, after a sentence that says what to do, when it cannot.
tl_install_packages() {
  command -v dpkg-query >/dev/null || return 0  # not Debian: CMake will name what it misses
  local missing
  read -r -d '' -a missing <<<"$(tl_missing_packages "$@")" || true  # to the end: always status 1
  ((${#missing[@]})) || return 0
  if [[ ${TRACELENS_INSTALL:-} == no ]]; then  # they may be there without dpkg's knowing
    tl_say "TRACELENS_INSTALL=no: going on without these Debian packages: ${missing[*]}"
    return 0
  fi
  local as_root=()
  if ((EUID != 0)); then
    if command -v sudo >/dev/null && { sudo -n true 2>/dev/null || [[ -t 0 ]]; }; then
      as_root=(sudo)
    else
      tl_say "these Debian packages are missing, and installing them takes root or sudo:" \
        "run 'apt-get install ${missing[*]}' as root, then try again"
      return 1
    fi
  fi
  local apt=("${as_root[@]}" env DEBIAN_FRONTEND=noninteractive apt-get
    -o DPkg::Lock::Timeout=120 -o Acquire::Retries=3 -qq)
  tl_say "installing ${#missing[@]} Debian packages: ${missing[*]}"
  tl_say "to have nothing installed: TRACELENS_INSTALL=no in the environment"
  [[ ! -t 2 ]] || sleep 5  # time for Ctrl-C
  # Standard input is the program's: it may be a trace.
  tl_retry "${apt[@]}" update >&2 </dev/null || tl_say "the package lists could not be refreshed; going on"
  if ! tl_retry "${apt[@]}" install -y --no-install-recommends "${missing[@]}" >&2 </dev/null; then
    tl_say "apt-get could not install: ${missing[*]}"
    return 1
  fi
}
