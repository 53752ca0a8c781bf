#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# The command report: with stand-ins for ptxas, and with the real one where it is found.
. "${top_srcdir:?}/tests/tool/harness.sh"

signature=strided_view:f32:4x11:shape=2x4:strides=1x1:load_masked:pad=nan
canonical=$signature:target=sm_80
real_ptxas=${TILEPTX_PTXAS-}
unset TILEPTX_PTXAS
unset CUDA_HOME CUDA_PATH
TMPDIR=$scratch/tmp
export TMPDIR
mkdir tmp bin home home/bin

stand_in() { # FILE, script on standard input
  { echo '#!/bin/sh' && cat; } >"$1"
  chmod +x "$1"
}

# ---- What ptxas counts ----

stand_in bin/ptxas <<'EOT'
echo "$@" >arguments
cp "$3" assembled
cat <<'LOG'
ptxas info    : 0 bytes gmem
ptxas info    : Compiling entry function 'k' for 'sm_80'
ptxas info    : Function properties for k
    8 bytes stack frame, 16 bytes spill stores, 24 bytes spill loads
ptxas info    : Used 41 registers, used 1 barriers, 8 bytes cumulative stack size, 64 bytes smem, 360 bytes cmem[0], 40 bytes cmem[2]
LOG
EOT
TILEPTX_PTXAS=$scratch/bin/ptxas
export TILEPTX_PTXAS
tool report $signature
check "report ends with 0" test "$status" = 0
grep -v '^entry\|^compile time' out >rows
cat >expected <<EOT
signature     $canonical
target        sm_80
assembler     $scratch/bin/ptxas
registers     41
spill stores  16 bytes
spill loads   24 bytes
stack         8 bytes
shared        64 bytes
constant      400 bytes
EOT
check "report prints what ptxas counts" cmp -s expected rows
check "report prints the time" grep -qE '^compile time +[0-9.]+ ms$' out
tool emit $signature
check "ptxas is given the text" cmp -s out assembled
check "ptxas is given -v and the target" grep -q '^-v -arch=sm_80 .*kernel.ptx -o .*kernel.cubin$' arguments
check "no temporary file is left" test -z "$(ls -A tmp)"

tool report --json $signature
out_is_json "report --json is JSON"
out_has "it has the schema" '"schema": 1'
out_has "it has the signature" "\"signature\": \"$canonical\""
out_has "it has the counts" '"registers": 41, "spill_store_bytes": 16, "spill_load_bytes": 24, "stack_bytes": 8, "shared_bytes": 64, "constant_bytes": 400, "compile_ms": '
TILEPTX_TARGET=sm_90 "$tileptx" report $signature >out 2>err
check "TILEPTX_TARGET is the target of ptxas" grep -q -e '-arch=sm_90' arguments
tool report $signature $signature
check "two reports have an empty line between them" test "$(grep -c '^$' out)" = 1

stand_in bin/silent </dev/null
TILEPTX_PTXAS=bin/silent
tool report --json $signature
out_is_json "a ptxas that counts nothing still gives JSON"
out_has "an unknown count is null" '"registers": null'
tool report $signature
out_has "an unknown count is said" "registers     unknown"

# ---- Finding it ----

ln -s ../../bin/silent home/bin/ptxas
unset TILEPTX_PTXAS
PATH=$scratch/bin:$PATH "$tileptx" report $signature >out 2>err
out_has "ptxas is found in PATH" "$scratch/bin/ptxas"
no_ptxas=$scratch/nothing
PATH=$no_ptxas CUDA_HOME=$scratch/home "$tileptx" report $signature >out 2>err
out_has "ptxas is found in CUDA_HOME" "$scratch/home/bin/ptxas"
PATH=$no_ptxas CUDA_PATH=$scratch/home "$tileptx" report $signature >out 2>err
out_has "ptxas is found in CUDA_PATH" "$scratch/home/bin/ptxas"
PATH=$scratch/bin TILEPTX_PTXAS=silent "$tileptx" report $signature >out 2>err
out_has "TILEPTX_PTXAS may be a name in PATH" "$scratch/bin/silent"
for missing in "$scratch/none" none "$scratch"; do
  TILEPTX_PTXAS=$missing "$tileptx" report $signature >out 2>err
  status=$?
  check "TILEPTX_PTXAS=$missing is a missing tool" test "$status" = 3
  err_has "what to do is said" "set TILEPTX_PTXAS"
done

# ---- Failures ----

stand_in bin/broken <<'EOT'
echo "ptxas k.ptx, line 4; error   : Not a name of any known instruction: 'foo'" >&2
exit 255
EOT
TILEPTX_PTXAS=$scratch/bin/broken
export TILEPTX_PTXAS
expect_refusal "an assembly that fails" 1 "Not a name of any known instruction: 'foo'" report $signature
check "no temporary file is left after it" test -z "$(ls -A tmp)"
stand_in bin/slow <<'EOT'
exec sleep 30
EOT
TILEPTX_PTXAS=$scratch/bin/slow
TILEPTX_TIMEOUT=1
export TILEPTX_TIMEOUT
expect_refusal "an assembly that takes too long" 1 "was ended after 1 seconds" report $signature
check "no temporary file is left after that" test -z "$(ls -A tmp)"
for wrong in 0 x 86401 -1; do
  TILEPTX_TIMEOUT=$wrong
  expect_refusal "TILEPTX_TIMEOUT=$wrong" 2 "TILEPTX_TIMEOUT" report $signature
done
unset TILEPTX_TIMEOUT
stand_in bin/killed <<'EOT'
kill -9 $$
EOT
TILEPTX_PTXAS=$scratch/bin/killed
expect_refusal "an assembler that a signal ends" 1 "failed" report $signature
TILEPTX_PTXAS=$scratch/bin/ptxas
expect_refusal "a signature that is refused" 1 "TPTX_ERROR_SYNTAX" report nonsense
TMPDIR=$scratch/nowhere
expect_refusal "a temporary folder that is not there" 4 "$scratch/nowhere" report $signature

# ---- The real one ----

TMPDIR=$scratch/tmp
TILEPTX_PTXAS=$real_ptxas
if "$tileptx" report $signature >out 2>err; then
  check "the real ptxas counts registers" grep -qE '^registers +[1-9][0-9]*$' out
  check "nothing spills" grep -qE '^spill stores +0 bytes$' out
  check "a kernel has parameters in constant memory" grep -qE '^constant +[1-9][0-9]* bytes$' out
else
  check "without ptxas report says so" grep -q "ptxas was not found" err
fi
finish
