#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# Makes ./configure from configure.ac. Needed in a git clone only: a release tarball carries configure.
set -e
cd "$(dirname "$0")"
mkdir -p m4
exec autoreconf --install --force --warnings=all
