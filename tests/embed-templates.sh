#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# scripts/embed-templates: the text comes back byte for byte, warning-free, and bad input is refused.
set -euo pipefail

# Set by tests/local.mk.
: "${top_srcdir:?}" "${CC:?}"

scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT
cd "$scratch"
embed=$top_srcdir/scripts/embed-templates

# Everything that C could trip over: quotes, backslashes, trigraphs, comment marks, an empty line, 5,000 characters.
printf '%s\n' "'\"\\n\\0??/ /* */ // \${hole}" '' "$(printf '%5000s' '' | tr ' ' x)" ' end' >odd.ptx
: >empty.ptx
sh "$embed" odd.ptx empty.ptx >templates.c
printf 'struct template_source { const char *name; const char *text; };\nextern const struct template_source template_sources[];\n' \
  >template.h
cat >print.c <<'EOF'
#include <stdio.h>
#include <string.h>
#include "template.h"
int main(void) {
  for (const struct template_source *t = template_sources; t->name != NULL; t++) {
    if (strcmp(t->name, "odd") == 0) fputs(t->text, stdout);
    else if (strcmp(t->name, "empty") != 0 || t->text[0] != '\0') return 1;
  }
  return 0;
}
EOF
$CC -std=c11 -Wall -Wextra -Wpedantic -Wconversion -Werror -I. templates.c print.c -o print
./print >back
cmp odd.ptx back

refused() {
  if sh "$embed" "$1" >/dev/null 2>message; then
    echo "FAIL: embed-templates took $2"
    exit 1
  fi
  grep -q "$1" message
}
printf 'one\ntab\there\n' >tab.ptx
refused tab.ptx 'a tab'
printf 'caf\303\251\n' >utf.ptx
refused utf.ptx 'a character outside ASCII'
: >Bad-Name.ptx
refused Bad-Name.ptx 'a name that is no C identifier'
refused missing.ptx 'a file that does not exist'
echo "4 passed, 0 failed"
