# scripts/common.sh: what every script of this folder starts with (sourced).
# Gives: $root (the project's folder, made current), $jobs, say, die, have.

set -euo pipefail
root=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)
cd "$root"

# Compilers of one translation unit take up to 1 GiB here: no more jobs than memory carries.
processors=$(nproc 2>/dev/null || echo 2)
memory_gib=$(awk '/^MemAvailable:/ { print int($2 / 1048576) + 1 }' /proc/meminfo 2>/dev/null || echo 2)
jobs=${HEAPPROF_JOBS:-$((processors < memory_gib ? processors : memory_gib))}

say() { printf '%s\n' "$*"; }
die() { printf '%s: error: %s\n' "scripts/$(basename "$0")" "$*" >&2; exit 1; }
have() { command -v "$1" >/dev/null 2>&1; }
