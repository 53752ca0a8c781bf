# SPDX-License-Identifier: Apache-2.0
#
# Manual pages and documents. What is of use only beside the sources travels in the tarball and is not
# installed.

dist_man_MANS += doc/tileptx.1
dist_doc_DATA += doc/architecture.md doc/atomics.md doc/performance.md doc/performance.svg \
  doc/specialisation.md
EXTRA_DIST += doc/adding-an-operation.md doc/conformance.md ptx_templates/README.md
