#!/bin/sh
# Fuzzes one reader with libFuzzer: scripts/fuzz.sh TARGET SECONDS
#
# TARGET is a file of fuzz/targets; of `any`, which is built once for all, FUZZ_TARGET names the reader. Needs nothing but the
# stable toolchain and a C++ compiler (for libFuzzer itself): coverage comes from LLVM's own pass. What it finds lies in
# fuzz/artifacts/READER; new inputs go to fuzz/work/READER, and fuzz/corpus/READER, which is in the repository, is only read.
# FUZZ_PROFILE=short builds sooner what runs slower. MINIMISE=1 in place of fuzzing writes to fuzz/small/READER the fewest inputs
# that reach all that corpus and work reach.
set -eu
cd "$(dirname "$0")/../fuzz"
target=${1:?usage: scripts/fuzz.sh TARGET SECONDS}
seconds=${2:-60}
reader=${FUZZ_TARGET:-$target}
host=$(rustc -vV | sed -n 's/^host: //p')
export RUSTFLAGS="--cfg fuzzing -Cpasses=sancov-module -Cllvm-args=-sanitizer-coverage-level=4 \
-Cllvm-args=-sanitizer-coverage-inline-8bit-counters -Cllvm-args=-sanitizer-coverage-pc-table \
-Cllvm-args=-sanitizer-coverage-trace-compares -Ccodegen-units=1"
profile=${FUZZ_PROFILE:-release}
cargo build --profile "$profile" --target "$host" --bin "$target"
mkdir -p "artifacts/$reader" "work/$reader" "corpus/$reader"
run="target/$host/$profile/$target"
if [ -n "${MINIMISE:-}" ]; then
    mkdir -p "small/$reader"
    exec "$run" -merge=1 -rss_limit_mb=1024 -timeout=10 "small/$reader" "corpus/$reader" "work/$reader"
fi
# One input may take neither ten seconds nor a gigabyte, nor one allocation of half of it.
exec "$run" -max_total_time="$seconds" -timeout=10 -rss_limit_mb=1024 -malloc_limit_mb=512 -max_len=8192 \
    -artifact_prefix="artifacts/$reader/" "work/$reader" "corpus/$reader"
