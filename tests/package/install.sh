#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# An installed tileptx serves a program that knows nothing but pkg-config: shared and static.
set -euo pipefail

# Set by tests/local.mk.
: "${top_srcdir:?}" "${top_builddir:?}" "${CC:?}"

if [ ! -e "$top_builddir/.libs/libtileptx.so" ] || [ ! -e "$top_builddir/.libs/libtileptx.a" ]; then
  echo "SKIP: this build has not both a shared and a static library"
  exit 77
fi
pkg_config=$(command -v "${PKG_CONFIG:-pkg-config}") || {
  echo "SKIP: pkg-config is missing (Debian package: pkg-config)"
  exit 77
}

scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT
unset MAKEFLAGS MFLAGS MAKELEVEL # of the make that runs this test
"${MAKE:-make}" -s -C "$top_builddir" install DESTDIR="$scratch" >"$scratch/install.log" 2>&1 || {
  cat "$scratch/install.log"
  exit 1
}

# The package file stands where it was installed, and says where the rest is.
PKG_CONFIG_LIBDIR=$(dirname "$(find "$scratch" -name tileptx.pc)")
export PKG_CONFIG_LIBDIR PKG_CONFIG_SYSROOT_DIR=$scratch
unset PKG_CONFIG_PATH
libdir=$scratch$(PKG_CONFIG_SYSROOT_DIR='' "$pkg_config" --variable=libdir tileptx)
export TILEPTX_EMU_PATH=$libdir/tileptx/libtileptx-emu.so

for file in libtileptx.so libtileptx.a tileptx/libtileptx-emu.so; do
  [ -e "$libdir/$file" ] || {
    echo "FAIL: $file was not installed in the library folder"
    exit 1
  }
done

example=$top_srcdir/examples/load_tile.c
read -ra cflags <<<"$("$pkg_config" --cflags tileptx)"
read -ra shared <<<"$("$pkg_config" --libs tileptx)"
read -ra private <<<"$("$pkg_config" --static --libs-only-l tileptx | sed 's/-ltileptx\b//')"

# $CC may carry options: unquoted on purpose
$CC -std=c11 -Wall -Wextra -Werror "${cflags[@]}" "$example" "${shared[@]}" -o "$scratch/shared"
$CC -std=c11 "${cflags[@]}" "$example" "$libdir/libtileptx.a" "${private[@]}" -o "$scratch/static"

LD_LIBRARY_PATH=$libdir "$scratch/shared" >"$scratch/shared.out"
"$scratch/static" >"$scratch/static.out"
cmp "$scratch/shared.out" "$scratch/static.out"
cat "$scratch/shared.out"
echo "2 passed, 0 failed"
