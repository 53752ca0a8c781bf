# SPDX-License-Identifier: Apache-2.0
#
# Tests. `make check` runs TESTS; exit 0 passed, 77 skipped (say why on the last line), anything else failed.
#
# A Check suite is one program, tests/unit/NAME_test.c, named in tileptx_suites, with its two lines below.
# A script is one line in tileptx_script_tests. What a test reads beside itself goes into EXTRA_DIST.
#
# A test that needs ptxas skips where $PTXAS is empty, unless $TILEPTX_REQUIRE holds the word ptxas: then it
# fails. A test with a short and a full size runs the full one when $TILEPTX_LONG is 1 (scripts/quickstart
# check --long). `make check` stays under five minutes on two cores.

# The environment of every test, set here and nowhere else. A variable that the caller sets wins; only that
# Check names the tests that passed is fixed: tests/conformance.sh looks for them.
AM_TESTS_ENVIRONMENT = \
  LC_ALL=C; export LC_ALL; \
  top_srcdir='$(abs_top_srcdir)'; export top_srcdir; \
  top_builddir='$(abs_top_builddir)'; export top_builddir; \
  CC='$(CC)'; export CC; \
  MAKE='$(MAKE)'; export MAKE; \
  PTXAS=$${PTXAS-'$(PTXAS)'}; export PTXAS; \
  TILEPTX_DRIVER=$${TILEPTX_DRIVER-emu}; export TILEPTX_DRIVER; \
  TILEPTX_EMU_PATH=$${TILEPTX_EMU_PATH-'$(abs_top_builddir)/.libs/libtileptx-emu.so'}; export TILEPTX_EMU_PATH; \
  test -z "$$PTXAS" || { TILEPTX_PTXAS=$${TILEPTX_PTXAS-$$PTXAS}; export TILEPTX_PTXAS; }; \
  TILEPTX_LONG=$${TILEPTX_LONG-0}; export TILEPTX_LONG; \
  CK_VERBOSITY=verbose; export CK_VERBOSITY;

TEST_EXTENSIONS = .sh
SH_LOG_COMPILER = bash

# ---- Check suites ----
#
# A suite links the static twin of the library, so it reaches every function that is not static to a file:
#
#   tileptx_suites = tests/unit/key_test
#   tests_unit_key_test_CPPFLAGS = $(tileptx_suite_cppflags)
#   tests_unit_key_test_LDADD = $(tileptx_suite_ldadd)

tileptx_suite_cppflags = $(AM_CPPFLAGS) -I$(top_srcdir)/lib -I$(top_srcdir)/tests $(CHECK_CFLAGS)
tileptx_suite_ldadd = libtileptx-test.la $(CHECK_LIBS)

tileptx_suites = \
  tests/unit/cache_test \
  tests/unit/capture_test \
  tests/unit/cases_a_test \
  tests/unit/cases_b_test \
  tests/unit/cases_c_test \
  tests/unit/cases_d_test \
  tests/unit/cases_f_test \
  tests/unit/cases_h_test \
  tests/unit/conformance_test \
  tests/unit/conformance_views_test \
  tests/unit/context_test \
  tests/unit/driver_test \
  tests/unit/emu_test \
  tests/unit/fault_test \
  tests/unit/holders_test \
  tests/unit/outcome_test \
  tests/unit/plan_test \
  tests/unit/reference_test \
  tests/unit/refusals_test \
  tests/unit/runtime_test \
  tests/unit/classes_test \
  tests/unit/shortcut_test \
  tests/unit/staging_test \
  tests/unit/signature_test \
  tests/unit/status_test \
  tests/unit/strbuf_test \
  tests/unit/values_test

tests_unit_cache_test_SOURCES = tests/unit/cache_test.c tests/unit/counting_allocator.h
tests_unit_cache_test_CPPFLAGS = $(tileptx_suite_cppflags)
tests_unit_cache_test_LDADD = $(tileptx_suite_ldadd)
tests_unit_driver_test_CPPFLAGS = $(tileptx_suite_cppflags)
tests_unit_driver_test_LDADD = $(tileptx_suite_ldadd)
tileptx_host_sources = tests/unit/host.c tests/unit/host.h tests/unit/counting_allocator.h
tests_unit_capture_test_SOURCES = tests/unit/capture_test.c $(tileptx_host_sources)
tests_unit_capture_test_CPPFLAGS = $(tileptx_suite_cppflags)
tests_unit_capture_test_LDADD = $(tileptx_suite_ldadd)
tests_unit_context_test_SOURCES = tests/unit/context_test.c $(tileptx_host_sources)
tests_unit_context_test_CPPFLAGS = $(tileptx_suite_cppflags)
tests_unit_context_test_LDADD = $(tileptx_suite_ldadd)
tests_unit_fault_test_SOURCES = tests/unit/fault_test.c $(tileptx_host_sources)
tests_unit_fault_test_CPPFLAGS = $(tileptx_suite_cppflags)
tests_unit_fault_test_LDADD = $(tileptx_suite_ldadd)
tests_unit_holders_test_CPPFLAGS = $(tileptx_suite_cppflags)
tests_unit_holders_test_LDADD = $(tileptx_suite_ldadd)
tests_unit_runtime_test_SOURCES = tests/unit/runtime_test.c $(tileptx_host_sources)
tests_unit_runtime_test_CPPFLAGS = $(tileptx_suite_cppflags)
tests_unit_runtime_test_LDADD = $(tileptx_suite_ldadd)
tests_unit_staging_test_SOURCES = tests/unit/staging_test.c $(tileptx_host_sources)
tests_unit_staging_test_CPPFLAGS = $(tileptx_suite_cppflags)
tests_unit_staging_test_LDADD = $(tileptx_suite_ldadd)

tests_unit_classes_test_SOURCES = tests/unit/classes_test.c $(tileptx_host_sources)
tests_unit_classes_test_CPPFLAGS = $(tileptx_suite_cppflags)
tests_unit_classes_test_LDADD = $(tileptx_suite_ldadd)

tests_unit_shortcut_test_SOURCES = tests/unit/shortcut_test.c $(tileptx_host_sources)
tests_unit_shortcut_test_CPPFLAGS = $(tileptx_suite_cppflags)
tests_unit_shortcut_test_LDADD = $(tileptx_suite_ldadd)

tests_unit_emu_test_SOURCES = tests/unit/emu_test.c tests/unit/emu_values.def \
  tests/unit/emu_refusals.def tests/unit/emu_faults.def tests/unit/emu_harmless.def
tests_unit_emu_test_CPPFLAGS = $(AM_CPPFLAGS) -I$(top_srcdir)/emu -I$(top_srcdir)/tests/unit $(CHECK_CFLAGS)
tests_unit_emu_test_LDADD = $(CHECK_LIBS)
tests_unit_plan_test_CPPFLAGS = $(tileptx_suite_cppflags)
tests_unit_plan_test_LDADD = $(tileptx_suite_ldadd)
tests_unit_signature_test_CPPFLAGS = $(tileptx_suite_cppflags)
tests_unit_signature_test_LDADD = $(tileptx_suite_ldadd)
tests_unit_status_test_CPPFLAGS = $(tileptx_suite_cppflags)
tests_unit_status_test_LDADD = $(tileptx_suite_ldadd)
tests_unit_strbuf_test_CPPFLAGS = $(tileptx_suite_cppflags)
tests_unit_strbuf_test_LDADD = $(tileptx_suite_ldadd)
tests_unit_values_test_SOURCES = tests/unit/values_test.c \
  tools/values.c tools/values.h tools/floats.c tools/floats.h
tests_unit_values_test_CPPFLAGS = $(tileptx_suite_cppflags) -I$(top_srcdir)/tools
tests_unit_values_test_LDADD = $(tileptx_suite_ldadd) -lm

# Suites that run single operations on the emulated driver.
tileptx_workbench_sources = tests/workbench.c tests/workbench.h tools/device.c tools/device.h
tests_unit_cases_a_test_SOURCES = tests/unit/cases_a_test.c $(tileptx_workbench_sources)
tests_unit_cases_a_test_CPPFLAGS = $(tileptx_suite_cppflags)
tests_unit_cases_a_test_LDADD = $(tileptx_suite_ldadd)
tests_unit_cases_b_test_SOURCES = tests/unit/cases_b_test.c $(tileptx_workbench_sources)
tests_unit_cases_b_test_CPPFLAGS = $(tileptx_suite_cppflags)
tests_unit_cases_b_test_LDADD = $(tileptx_suite_ldadd)
tileptx_one_row_sources = tests/unit/one_row.c tests/unit/one_row.h $(tileptx_workbench_sources)
tests_unit_cases_c_test_SOURCES = tests/unit/cases_c_test.c $(tileptx_one_row_sources)
tests_unit_cases_c_test_CPPFLAGS = $(tileptx_suite_cppflags) -I$(top_srcdir)/emu
tests_unit_cases_c_test_LDADD = $(tileptx_suite_ldadd)
tests_unit_cases_d_test_SOURCES = tests/unit/cases_d_test.c $(tileptx_one_row_sources)
tests_unit_cases_d_test_CPPFLAGS = $(tileptx_suite_cppflags)
tests_unit_cases_d_test_LDADD = $(tileptx_suite_ldadd)
tests_unit_cases_f_test_SOURCES = tests/unit/cases_f_test.c $(tileptx_workbench_sources)
tests_unit_cases_f_test_CPPFLAGS = $(tileptx_suite_cppflags) -I$(top_srcdir)/emu
tests_unit_cases_f_test_LDADD = $(tileptx_suite_ldadd)
tests_unit_cases_h_test_SOURCES = tests/unit/cases_h_test.c $(tileptx_workbench_sources)
tests_unit_cases_h_test_CPPFLAGS = $(tileptx_suite_cppflags)
tests_unit_cases_h_test_LDADD = $(tileptx_suite_ldadd)
# One small operation on the device and by the reference: the suites about conformance.
tileptx_trial_sources = tests/unit/trial.c tests/unit/trial.h tests/reference.c tests/reference.h \
  tests/reference_values.c tests/reference_values.h
tests_unit_conformance_test_SOURCES = tests/unit/conformance_test.c $(tileptx_trial_sources) \
  $(tileptx_one_row_sources)
tests_unit_conformance_test_CPPFLAGS = $(tileptx_suite_cppflags)
tests_unit_conformance_test_LDADD = $(tileptx_suite_ldadd)
tests_unit_conformance_views_test_SOURCES = tests/unit/conformance_views_test.c \
  $(tileptx_trial_sources) $(tileptx_workbench_sources)
tests_unit_conformance_views_test_CPPFLAGS = $(tileptx_suite_cppflags)
tests_unit_conformance_views_test_LDADD = $(tileptx_suite_ldadd)
tests_unit_reference_test_SOURCES = tests/unit/reference_test.c $(tileptx_reference_sources)
tests_unit_reference_test_CPPFLAGS = $(tileptx_suite_cppflags)
tests_unit_reference_test_LDADD = $(tileptx_suite_ldadd)
tests_unit_outcome_test_SOURCES = tests/unit/outcome_test.c $(tileptx_reference_sources)
tests_unit_outcome_test_CPPFLAGS = $(tileptx_suite_cppflags)
tests_unit_outcome_test_LDADD = $(tileptx_suite_ldadd)
tests_unit_refusals_test_SOURCES = tests/unit/refusals_test.c tests/unit/refusals.def \
  $(tileptx_workbench_sources)
tests_unit_refusals_test_CPPFLAGS = $(tileptx_suite_cppflags)
tests_unit_refusals_test_LDADD = $(tileptx_suite_ldadd)

# Driver libraries that driver_test opens: modules, so with an -rpath that nothing is installed to.
check_LTLIBRARIES += tests/unit/fake_driver.la tests/unit/old_driver.la
tileptx_fake_driver_ldflags = $(AM_LDFLAGS) -module -avoid-version -shared -rpath /nowhere
tests_unit_fake_driver_la_SOURCES = tests/unit/fake_driver.c
tests_unit_fake_driver_la_LDFLAGS = $(tileptx_fake_driver_ldflags)
tests_unit_old_driver_la_SOURCES = tests/unit/fake_driver.c
tests_unit_old_driver_la_CPPFLAGS = $(AM_CPPFLAGS) -DWITHOUT_LINKER
tests_unit_old_driver_la_LDFLAGS = $(tileptx_fake_driver_ldflags)

if HAVE_CHECK
check_PROGRAMS += $(tileptx_suites)
TESTS += $(tileptx_suites) tests/conformance.sh
# It reads the logs of the tests that doc/conformance.md names.
tests/conformance.log: $(tileptx_suites:=.log) tests/golden/atomic_test.log tests/gpu/lost_updates.log \
  tests/net/meaning_test.log tests/tool/examples.log
else
TESTS += tests/check-missing.sh
endif

# The programs among TESTS that start threads: scripts/quickstart check --long repeats them under the thread
# sanitizer.
tileptx_thread_tests = tests/unit/cache_test tests/unit/emu_test tests/unit/context_test tests/unit/fault_test \
  tests/unit/holders_test tests/unit/shortcut_test

# ---- Other test programs ----
#
# They need neither Check nor a private function of the library, so that tests/gpu/run.sh can build them where
# there is little more than a compiler and a GPU.

tileptx_reference_sources = \
  tests/outcome.c tests/outcome.h tests/reference.c tests/reference.h \
  tests/reference_values.c tests/reference_values.h

tileptx_random_sources = \
  tests/random_case.c tests/random_case.h tests/random_draft.h \
  tests/random_operands.c tests/random_refusal.c tests/random_values.c \
  $(tileptx_reference_sources)

tileptx_net_tests = \
  tests/fuzz/arguments_fuzz \
  tests/fuzz/signature_fuzz \
  tests/gpu/large_offsets \
  tests/net/meaning_test \
  tests/net/ptxas_test
check_PROGRAMS += $(tileptx_net_tests)
TESTS += $(tileptx_net_tests)

tests_net_meaning_test_SOURCES = tests/net/meaning_test.c \
  tests/net/plan_values.c tests/net/plan_values.h tests/net/plan_values.def \
  $(tileptx_random_sources) tools/device.c tools/device.h
tests_net_meaning_test_CPPFLAGS = $(AM_CPPFLAGS) -I$(top_srcdir)/tests
tests_net_meaning_test_LDADD = libtileptx.la
tests_net_ptxas_test_SOURCES = tests/net/ptxas_test.c $(tileptx_random_sources)
tests_net_ptxas_test_CPPFLAGS = $(AM_CPPFLAGS) -I$(top_srcdir)/tests
tests_net_ptxas_test_LDADD = libtileptx.la
tests_fuzz_arguments_fuzz_SOURCES = tests/fuzz/arguments_fuzz.c
tests_fuzz_arguments_fuzz_LDADD = libtileptx.la
tests_fuzz_signature_fuzz_SOURCES = tests/fuzz/signature_fuzz.c
tests_fuzz_signature_fuzz_LDADD = libtileptx.la
tests_gpu_large_offsets_SOURCES = tests/gpu/large_offsets.c tools/device.c tools/device.h
tests_gpu_large_offsets_LDADD = libtileptx.la
tileptx_fuzz_corpus = \
  tests/fuzz/signatures/atomic.txt \
  tests/fuzz/signatures/broadcast.txt \
  tests/fuzz/signatures/conversion.txt \
  tests/fuzz/signatures/eight_axes.txt \
  tests/fuzz/signatures/everything.txt \
  tests/fuzz/signatures/gather.txt \
  tests/fuzz/signatures/largest.txt \
  tests/fuzz/signatures/negative.txt \
  tests/fuzz/signatures/overflow.txt \
  tests/fuzz/signatures/plain.txt \
  tests/fuzz/signatures/question_marks.txt \
  tests/fuzz/signatures/reserved.txt \
  tests/fuzz/signatures/scalar.txt
tileptx_goldens = \
  tests/golden/gather_load_bf16_rows.ptx \
  tests/golden/gather_load_f32_in_bounds.ptx \
  tests/golden/gather_load_masked_bf16_dense_columns.ptx \
  tests/golden/gather_load_masked_bf16_rows.ptx \
  tests/golden/gather_load_masked_bf16_shifted.ptx \
  tests/golden/gather_load_masked_f32_columns.ptx \
  tests/golden/gather_load_masked_f32_dense_columns.ptx \
  tests/golden/gather_load_masked_s64_wide.ptx \
  tests/golden/scatter_store_masked_f32_rows.ptx \
  tests/golden/scatter_store_masked_u8_indices.ptx \
  tests/golden/scatter_store_s32.ptx \
  tests/golden/strided_load_f32.ptx \
  tests/golden/strided_load_f32_column_major.ptx \
  tests/golden/strided_load_f32_columns.ptx \
  tests/golden/strided_load_f32_rank_4.ptx \
  tests/golden/strided_load_f32_short_rows.ptx \
  tests/golden/strided_load_f64_rank_0.ptx \
  tests/golden/strided_load_masked_bf16_align_4.ptx \
  tests/golden/strided_load_masked_bf16_turned_words.ptx \
  tests/golden/strided_load_masked_bool.ptx \
  tests/golden/strided_load_masked_f32.ptx \
  tests/golden/strided_load_masked_f32_all_whole.ptx \
  tests/golden/strided_load_masked_f32_array.ptx \
  tests/golden/strided_load_masked_f32_element_by_element.ptx \
  tests/golden/strided_load_masked_f32_overlap.ptx \
  tests/golden/strided_load_masked_f32_prime_tile.ptx \
  tests/golden/strided_load_masked_f32_transposed.ptx \
  tests/golden/strided_load_masked_f32_wide.ptx \
  tests/golden/strided_load_masked_f64_negative_inf.ptx \
  tests/golden/strided_load_masked_rank_8.ptx \
  tests/golden/strided_load_masked_u16_pad_value.ptx \
  tests/golden/strided_load_masked_u8_edge.ptx \
  tests/golden/strided_load_masked_u8_shifted.ptx \
  tests/golden/strided_load_s32_broadcast.ptx \
  tests/golden/strided_load_s32_reversed.ptx \
  tests/golden/strided_store_bool.ptx \
  tests/golden/strided_store_f32.ptx \
  tests/golden/strided_store_masked_bf16_transposed.ptx \
  tests/golden/strided_store_masked_e4m3_rank_3.ptx \
  tests/golden/strided_store_masked_f16_edge.ptx \
  tests/golden/strided_store_masked_u8_array.ptx
EXTRA_DIST += tests/gpu/run.sh tests/net/registers.txt $(tileptx_fuzz_corpus) $(tileptx_goldens)

check_PROGRAMS += tests/gpu/driver_answers
tests_gpu_driver_answers_SOURCES = tests/gpu/driver_answers.c tools/device.c tools/device.h
tests_gpu_driver_answers_LDADD = libtileptx.la
# What needs only a device, emulated or not; tests/gpu/run.sh builds them, too.
check_PROGRAMS += tests/gpu/conversions tests/gpu/lost_updates tests/gpu/dropped_in_flight
TESTS += tests/gpu/conversions tests/gpu/lost_updates tests/gpu/dropped_in_flight
tileptx_rig_sources = tests/gpu/rig.c tests/gpu/rig.h tools/device.c tools/device.h
tests_gpu_conversions_SOURCES = tests/gpu/conversions.c tests/reference_values.c \
  tests/reference_values.h $(tileptx_rig_sources)
tests_gpu_conversions_LDADD = libtileptx.la
tests_gpu_lost_updates_SOURCES = tests/gpu/lost_updates.c $(tileptx_rig_sources)
tests_gpu_lost_updates_LDADD = libtileptx.la
tests_gpu_dropped_in_flight_SOURCES = tests/gpu/dropped_in_flight.c $(tileptx_rig_sources)
tests_gpu_dropped_in_flight_LDADD = libtileptx.la

# Rows of lib/updates.def and lib/conversions.def are counted, so this one sees lib/.
check_PROGRAMS += tests/net/rows_test
TESTS += tests/net/rows_test
tests_net_rows_test_SOURCES = tests/net/rows_test.c tests/net/machine_code.c tests/net/machine_code.h \
  $(tileptx_reference_sources) $(tileptx_rig_sources)
tests_net_rows_test_CPPFLAGS = $(AM_CPPFLAGS) -I$(top_srcdir)/lib -I$(top_srcdir)/tests
tests_net_rows_test_LDADD = libtileptx.la
EXTRA_DIST += tests/gpu/README.md tests/gpu/bench.sh tests/gpu/driver_answers.expected tests/gpu/2026-11-30-h200.txt

# ---- Scripts ----

# Tests of the tool and of programs: they run under sanitizers, too.
tileptx_script_tests = \
  tests/golden/atomic_test.sh \
  tests/golden/golden_test.sh \
  tests/bandwidth.sh \
  tests/driver-answers.sh \
  tests/example-programs.sh \
  tests/measuring.sh \
  tests/tool/bench.sh \
  tests/tool/emit.sh \
  tests/tool/examples.sh \
  tests/tool/fuzz.sh \
  tests/tool/info.sh \
  tests/tool/output.sh \
  tests/tool/readme.sh \
  tests/tool/report.sh \
  tests/tool/run.sh \
  tests/tool/usage.sh
EXTRA_DIST += tests/golden/signatures-atomic.txt
EXTRA_DIST += tests/tool/harness.sh tests/data/examples.json

# Tests of the tree, the build and the package: once is enough.
tileptx_tree_tests = \
  bench/instructions.sh \
  tests/atomics-manual.sh \
  tests/check-style.sh \
  tests/count-tests.sh \
  tests/exported-symbols.sh \
  tests/headers-alone.sh \
  tests/new-target.sh \
  tests/no-global-state.sh \
  tests/readme_example.sh \
  tests/template-language.sh \
  tests/template-names.sh \
  tests/package/install.sh \
  tests/package/tarball.sh

TESTS += $(tileptx_script_tests)
if !SANITIZERS
TESTS += $(tileptx_tree_tests)
endif
EXTRA_DIST += $(tileptx_script_tests) $(tileptx_tree_tests) tests/conformance.sh tests/check-missing.sh tests/exported-symbols.txt \
  scripts/check-style
