#!/usr/bin/env bash
# Build the components of the tests from scripted.c. Needs what scripts/components needs; what is built is committed.
set -euo pipefail
cd "$(dirname "$0")"

made=$(mktemp -d)
trap 'rm -rf "$made"' EXIT
flags=(--target=wasm32 -Oz -nostdlib -std=c2x -fno-builtin -Wl,--no-entry,--strip-all,-z,stack-size=65536)
for name in scripted asking; do
    define=(); [[ $name == asking ]] && define=(-DASKS)
    clang "${flags[@]}" "${define[@]}" scripted.c -o "$made/$name.wasm"
    (cd ../../../components && node component.mjs "$made/$name.wasm" "$OLDPWD/scripted.wit" scripted "$OLDPWD/$name.wasm")
done
