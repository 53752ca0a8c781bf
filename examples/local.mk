# SPDX-License-Identifier: Apache-2.0
#
# Examples: built by make so that they always compile, run by tests/example-programs.sh, and built again against the
# installed library by tests/package/install.sh.

noinst_PROGRAMS += examples/load_tile examples/run_tile
examples_load_tile_LDADD = libtileptx.la
examples_run_tile_LDADD = libtileptx.la
EXTRA_DIST += examples/load_tile.py examples/README.md
