#!/usr/bin/env bash
# Times foxhunt and its peers on the same work, on one NVIDIA GPU in one go, and writes one table.
#
#   bench/run.sh FOXHUNT OUT
#
# FOXHUNT is the program (release build), OUT a folder. It leaves there:
#   results.jsonl   one object a line: ours with device, driver and commit, the peers' as they print them
#   table.md        the table, of medians
#   log             whatever else was printed, and what was skipped
#
# FOXHUNT_BENCH_DEVICE (cuda) and FOXHUNT_BENCH_SECONDS (600, for each command) change where and how long; with
# FOXHUNT_BENCH_QUICK=1 sizes are tiny: it shows that everything runs, and no time of it means anything.
# A peer whose package is missing is skipped with a line, and so is whatever fails or takes too long.
set -u
if [ $# -ne 2 ]; then
  sed -n '2,14s/^# \{0,1\}//p' "$0" >&2
  exit 2
fi
foxhunt=$1
out=$2
here=$(cd "$(dirname "$0")" && pwd)
device=${FOXHUNT_BENCH_DEVICE:-cuda}
seconds=${FOXHUNT_BENCH_SECONDS:-600}
quick=${FOXHUNT_BENCH_QUICK:-0}
mkdir -p "$out" || exit 3
results=$out/results.jsonl
log=$out/log
: >"$results"
: >"$log"

note() { echo "$*" | tee -a "$log" >&2; }

# Runs a command and keeps the lines of JSON that it prints.
collect() {
  note "running: $*"
  timeout "$seconds" "$@" 2>>"$log" | tee -a "$log" | grep '^{' >>"$results"
  local codes=("${PIPESTATUS[@]}")
  case ${codes[0]} in
    0) ;;
    124) note "skipped the rest of it: more than $seconds s" ;;
    *) note "failed with ${codes[0]}: $* (see $log)" ;;
  esac
}

ours() { collect "$foxhunt" bench "$@" --device "$device" --json; }

if [ "$quick" = 1 ]; then
  soak=20 batches=16,32 few=1 populations=1 envs=8 members=2
  small="--rows 64 --steps 1 --repetitions 1"
  market="--bars 4096 --repetitions 1"
  epoch="--size small --set learn.updates=1 --set learn.collect=64 --set learn.replay=256 $market"
  backtest="--bars 8 --repetitions 1"
else
  soak=10000 batches=512,4096,16384 few=8,32 populations=1,8,32 envs=1024,8192,65536 members=1,32,256
  small=
  market=
  epoch="--size small,study,bench"
  backtest=
fi

# shellcheck disable=SC2086 # options are words
{
  ours machine --dtype bf16,f32
  ours machine --dtype f32 --tf32
  ours step --dtype bf16 --batch "$batches" --population "$populations" $small
  ours step --dtype bf16 --batch "${batches%%,*}" --soak "$soak"
  # The same work in our own F32, with TF32 as the peers' F32 has it.
  ours step --dtype f32 --tf32 --batch "$batches" --population "$populations" $small
  ours collect --network peers,bench --envs "$envs" --dtype bf16 $market
  ours collect --network peers,bench --envs "$envs" --dtype f32 --tf32 $market
  ours epoch --dtype bf16 $epoch
  ours epoch --dtype f32 --tf32 $epoch
  ours backtest --dtype bf16 --members "$members" $backtest
  ours backtest --dtype f32 --tf32 --members "$members" $backtest
}

if ! command -v python3 >/dev/null; then
  note "skipped the peers and the table: there is no python3"
  exit 0
fi
if python3 -c 'import torch, sys; sys.exit(not torch.cuda.is_available())' 2>>"$log"; then
  collect python3 "$here/peers/torch_dqn.py" --compile 1 --modes bf16,f32 --batches "$batches"
else
  note "skipped PyTorch: python3 has no torch that sees a GPU"
fi
if python3 -c 'import jax, optax, sys; sys.exit(jax.default_backend() != "gpu")' 2>>"$log"; then
  export XLA_PYTHON_CLIENT_PREALLOCATE=false
  collect python3 "$here/peers/jax_rl.py" --train "$batches" --populations 1
  collect python3 "$here/peers/jax_rl.py" --train "$batches" --populations 1 --scatter
  collect python3 "$here/peers/jax_rl.py" --train "${batches%%,*}" --populations "$few" --scatter
  collect python3 "$here/peers/jax_rl.py" --collect "$envs"
else
  note "skipped JAX: python3 has no jax and optax that see a GPU"
fi
python3 "$here/table.py" "$results" >"$out/table.md" || exit 3
cat "$out/table.md"
