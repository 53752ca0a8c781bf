#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# The commands of README.md do what it says.
#
# A block ```sh is run when the line before it is <!-- run -->. Where a block ```text follows, with nothing
# but empty lines between the two, it is what the commands print on standard output, to the byte. The
# commands run with the tool in PATH, in an empty folder.
. "${top_srcdir:?}/tests/tool/harness.sh"

mkdir bin
cat >bin/tileptx <<EOT
#!/bin/sh
exec "$tileptx" "\$@"
EOT
chmod +x bin/tileptx
PATH=$scratch/bin:$PATH
export PATH

# block-N.sh and block-N.text
awk '
  /^```/ && in_block { in_block = 0; close(file); ended = NR; next }
  in_block { print > file; next }
  /^```sh$/ && marked { in_block = 1; file = "block-" ++n ".sh"; printf "" > file; after = n; next }
  /^```text$/ && after { in_block = 1; file = "block-" after ".text"; printf "" > file; after = 0; next }
  /^```/ { in_block = 1; file = "/dev/null"; after = 0; marked = 0; next }
  { marked = ($0 == "<!-- run -->"); if ($0 !~ /^[ \t]*$/) after = 0 }
  END { print n + 0 > "count" }
' "$top_srcdir/README.md"

check "README.md has commands to run" test "$(cat count)" -ge 1
for block in block-*.sh; do
  test -e "$block" || continue
  text=${block%.sh}.text
  mkdir place
  (cd place && exec sh -e "../$block") >out 2>err </dev/null
  status=$?
  rm -rf place
  check "$block ends with 0: $(head -n 1 "$block")" test "$status" = 0
  test ! -e "$text" || check "$block prints what README.md shows" cmp "$text" out
done
finish
