# Read by the other scripts: where the project is, how they speak, how they stop.
# Exit codes are the command's: 0 fine, 1 a check failed, 2 wrong usage, 3 the environment lacks something.
root=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)
cuda_dir=$root/build/cuda
script=${0##*/}

say() { printf '%s: %s\n' "$script" "$*"; }
fail() { local code=$1; shift; printf '%s: %s\n' "$script" "$*" >&2; exit "$code"; }
seconds() { date +%s; }

# Jobs: the cores, but no more than memory carries at 2 GiB a compile with MLIR's headers.
jobs() {
  local cores by_memory
  cores=$(nproc)
  by_memory=$(awk '/MemAvailable/ {print int($2 / 2097152)}' /proc/meminfo)
  [ "$by_memory" -ge 1 ] || by_memory=1
  echo $((cores < by_memory ? cores : by_memory))
}

build_dir_of() {
  case "$1" in
    dev) echo "$root/build" ;;
    release-static) echo "$root/build-static" ;;
    runtime-only) echo "$root/build-runtime" ;;
    asan | tsan) echo "$root/build-$1" ;;
    *) fail 2 "unknown preset '$1'; one of dev, release-static, runtime-only, asan, tsan" ;;
  esac
}
