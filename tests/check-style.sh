#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# The house rules hold in the tree, and scripts/check-style finds each of them broken where it is.
set -euo pipefail
# Set by tests/local.mk.
: "${top_srcdir:?}"

exec bash "$top_srcdir/scripts/check-style" --with-self-test "$top_srcdir"
