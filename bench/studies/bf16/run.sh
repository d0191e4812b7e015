#!/usr/bin/env bash
# The study of storage types: F32 against BF16 rounded to nearest, stochastically and as pairs, on five markets.
#
#     bench/studies/bf16/run.sh --data FOLDER [--device cuda:0] [--members 64] [--out runs/bf16]
#
# FOLDER holds xbtusd_kraken_1h_2013_2023.csv.gz and eurusd_1h_bidask_2007_2018.csv.gz; files of other names are given as
# --xbtusd FILE and --eurusd FILE, or in the variables XBTUSD and EURUSD. Without them: --markets drift,regimes,mean-reversion.
# FOXHUNT names the program where it is neither in target/release nor on the path.
#
# --arms names others than f32,nearest,stochastic,paired: nearest-weights,nearest-m,nearest-v,nearest-targets round one quantity each.
#
# Each market is a folder of --out with compare.json and compare.html. Slices that are finished are kept: after a stop, of
# whatever kind, the same command goes on with the missing ones. What follows -- goes to every foxhunt compare.
#
# On two GPUs side by side, each has half of the members and folders of its own, and the second half is merged into the first:
#
#     bench/studies/bf16/run.sh --data FOLDER --device cuda:0 --members 0..32 --out runs/bf16 &
#     bench/studies/bf16/run.sh --data FOLDER --device cuda:1 --members 32..64 --out runs/bf16-second &
#     wait
#     bench/studies/bf16/run.sh --data FOLDER --members 64 --out runs/bf16 --merge runs/bf16-second
#
# --merge trains nothing. Then scripts/study_tables.py makes the page of the results.
set -euo pipefail
here=$(cd "$(dirname "$0")" && pwd)

fail() { echo "run.sh: $*" >&2; exit 2; }

data= device=auto members=64 slice=32 out=runs/bf16 merge= arms=f32,nearest,stochastic,paired markets=regimes,mean-reversion,drift,xbtusd,eurusd
xbtusd=${XBTUSD:-} eurusd=${EURUSD:-}
while [ $# -gt 0 ]; do
  case $1 in
    --) shift; break ;;
    --data | --device | --members | --slice | --out | --merge | --markets | --arms | --xbtusd | --eurusd)
      [ $# -ge 2 ] || fail "$1 needs a value"
      declare "${1#--}=$2"
      shift 2 ;;
    *) fail "unknown option $1: the comment at the head of this file lists them" ;;
  esac
done
if [ -n "$data" ]; then
  xbtusd=${xbtusd:-$data/xbtusd_kraken_1h_2013_2023.csv.gz}
  eurusd=${eurusd:-$data/eurusd_1h_bidask_2007_2018.csv.gz}
fi

foxhunt=${FOXHUNT:-}
if [ -z "$foxhunt" ]; then
  foxhunt=${CARGO_TARGET_DIR:-$here/../../../target}/release/foxhunt
  [ -x "$foxhunt" ] || foxhunt=foxhunt
fi
command -v "$foxhunt" > /dev/null || fail "no program $foxhunt: cargo build --release, or name it in FOXHUNT"

# All that is asked for is looked at before hours are spent on the first.
IFS=, read -ra names <<< "$markets"
for name in "${names[@]}"; do
  case $name in
    regimes | mean-reversion | drift) ;;
    xbtusd | eurusd) [ -f "${!name}" ] || fail "$name needs its file of bars: give --data FOLDER or --$name FILE" ;;
    *) fail "unknown market $name: regimes, mean-reversion, drift, xbtusd, eurusd" ;;
  esac
  [ -z "$merge" ] || [ -d "$merge/$name" ] || fail "$merge/$name is no folder"
done

for name in "${names[@]}"; do
  case $name in
    xbtusd | eurusd) market=(--data "${!name}" --config "$here/$name.toml") ;;
    *) market=(--market "known:$name" --config "$here/known.toml") ;;
  esac
  how=(--device "$device" --arms "$arms" --members "$members" --slice "$slice" --out "$out/$name")
  [ -z "$merge" ] || how+=(--minutes 0 --merge "$merge/$name")
  echo "== $name" >&2
  "$foxhunt" compare "${market[@]}" "${how[@]}" "$@"
done
