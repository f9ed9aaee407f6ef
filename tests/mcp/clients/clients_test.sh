#!/usr/bin/env bash
# clients_test.sh TRACELENS FOLDER: tests `tracelens mcp` with clients from npm, which are kept in FOLDER. Status 77: they
# cannot be installed here.
set -euo pipefail

here=$(dirname "$(readlink -f "${BASH_SOURCE[0]}")")
program=$1 folder=$2
skip() { echo "skipped: $1"; exit 77; }
command -v node npm >/dev/null || skip 'there is no node or npm'
(($(node -p 'process.versions.node.split(".")[0]') >= 20)) || skip 'node is older than 20'

# The shell or the job that this runs in must not matter.
unset COLUMNS NO_COLOR TL_MODEL TL_TP TRACELENS_DEMO TRACELENS_MAX_MEMORY "${!OMPI_@}" "${!PMI_@}" "${!PMIX_@}" "${!SLURM_@}"

mkdir -p "$folder"
cp "$here"/{package.json,package-lock.json,.npmrc,clients.mjs} "$folder"
if ! cmp -s "$folder/package-lock.json" "$folder/node_modules/.installed"; then
  timeout 300 npm --prefix "$folder" ci --no-audit --no-fund --ignore-scripts >"$folder/npm.log" 2>&1 ||
    skip 'npm cannot install the clients'
  cp "$folder/package-lock.json" "$folder/node_modules/.installed"
fi

big=$(mktemp -d)
trap 'rm -rf "$big"' EXIT
python3 - "$here/.." "$big" <<'EOF'
import pathlib, sys
sys.path.insert(0, sys.argv[1])
import protocol
protocol.make_big_trace(pathlib.Path(sys.argv[2]) / "huge.json.gz", 125)
EOF
node "$folder/clients.mjs" "$program" "$here/../../data:$big" "$(basename "$big")/huge.json.gz"
