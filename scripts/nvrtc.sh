#!/usr/bin/env bash
# Installs NVRTC from its Python package into target/nvrtc, once, and prints the folder for FOXHUNT_LIBRARY_PATH:
#     FOXHUNT_LIBRARY_PATH=$(scripts/nvrtc.sh) cargo xtask kernels
set -euo pipefail
cd "$(dirname "$0")/.."
version=13.0.88
folder=${CARGO_TARGET_DIR:-$PWD/target}/nvrtc
if [ ! -e "$folder/$version" ]; then
  rm -rf "$folder" "$folder.new"
  python3 -m pip install --quiet --disable-pip-version-check --no-deps --no-compile --root-user-action=ignore \
    --target "$folder.new" "nvidia-cuda-nvrtc==$version" >&2
  touch "$folder.new/$version"
  mv "$folder.new" "$folder"
fi
printf '%s\n' "$folder"
