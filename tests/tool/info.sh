#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# The command info.
. "${top_srcdir:?}/tests/tool/harness.sh"

tool info
check "info ends with 0" test "$status" = 0
check "info has the version" grep -qE '^tileptx +[0-9.]+$' out
check "info has the newest PTX" grep -qE '^ptx +[0-9]+\.[0-9]+$' out
check "info has the targets" grep -qE '^targets +sm_75 .*sm_90' out
check "info has the driver" grep -qE '^driver ' out
check "info has the emulated driver" grep -qE '^emulator +/.*, version [0-9.]+, takes PTX [0-9.]+$' out
check "info has its device" grep -qE '^ +0: .*, sm_[0-9]+$' out
for name in ptxas nvdisasm cuobjdump; do
  check "info has $name" grep -qE "^$name +(/|not found)" out
done

tool info --json
check "info --json ends with 0" test "$status" = 0
out_is_json "info --json is JSON"
out_has "it has the schema" '"schema": 1'
for key in tileptx ptx targets driver emulator ptxas nvdisasm cuobjdump; do
  out_has "it has $key" "\"$key\": "
done

TILEPTX_DRIVER=$scratch/none "$tileptx" info >out 2>err
status=$?
check "a missing driver is no failure" test "$status" = 0
check "the reason is told" grep -qE "^driver +none: .*$scratch/none" out
TILEPTX_DRIVER=$scratch/none "$tileptx" info --json >out 2>err
out_is_json "a missing driver gives JSON"
out_has "the reason is told in JSON" "\"problem\": \""

# A tool by its variable; a name with bytes that are no UTF-8 must not break the JSON.
folder=$(printf 'caf\351 "x"')
mkdir "$folder"
printf '#!/bin/sh\necho "Cuda compilation tools, release 99.7, V99.7.1"\n' >"$folder/ptxas"
chmod +x "$folder/ptxas"
TILEPTX_PTXAS="$scratch/$folder/ptxas" "$tileptx" info >out 2>err
out_has "TILEPTX_PTXAS names ptxas, which names its version" ", version 99.7.1"
TILEPTX_PTXAS="$scratch/$folder/ptxas" "$tileptx" info --json >out 2>err
out_is_json "a path of any bytes gives JSON"
out_has "what is no UTF-8 is replaced" 'caf\ufffd'
out_has "quotation marks are escaped" '\"x\"'
for variable in TILEPTX_PTXAS TILEPTX_NVDISASM TILEPTX_CUOBJDUMP; do
  env $variable="$scratch/none" "$tileptx" info >out 2>err
  check "$variable that leads nowhere" grep -q 'not found' out
done
finish
