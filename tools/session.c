/* SPDX-License-Identifier: Apache-2.0 */
#include "session.h"

#include "numbers.h"

#include <stdlib.h>
#include <string.h>

enum { MOST_DEVICES = 1024 };

/* ---- Device ---------------------------------------------------------------------------------- */

/* The driver that the environment names, or NULL for the system's. */
static const char *named_driver(void) {
  const char *name = getenv("TILEPTX_DRIVER");
  return name != NULL && name[0] != '\0' ? name : NULL;
}

static enum exit_code open_or_refuse(struct session *session, const char *driver, int ordinal) {
  char message[1024];
  if (device_open(driver, ordinal, &session->device, message, sizeof message) == 0)
    return EXIT_DONE;
  return complain(EXIT_MISSING, "%s", message);
}

static enum exit_code open_automatic(struct session *session) {
  char no_gpu[1024] = "";
  enum exit_code code = EXIT_DONE;
  if (named_driver() != NULL)
    code = open_or_refuse(session, named_driver(), 0);
  else if (device_open(NULL, 0, &session->device, no_gpu, sizeof no_gpu) != 0)
    code = open_or_refuse(session, "emu", 0);
  if (code == EXIT_DONE && no_gpu[0] != '\0')
    snprintf(session->choice, sizeof session->choice, "running on %s; no GPU: %s",
             device_name(session->device), no_gpu);
  else if (code == EXIT_DONE)
    snprintf(session->choice, sizeof session->choice, "running on %s",
             device_name(session->device));
  return code;
}

enum exit_code session_open(struct session *session) {
  const char *wish = session->options->device;
  int64_t ordinal;
  if (session->device != NULL) return EXIT_DONE;
  if (wish == NULL || strcmp(wish, "auto") == 0) return open_automatic(session);
  if (strcmp(wish, "emu") == 0) return open_or_refuse(session, "emu", 0);
  if (number_read(wish, strlen(wish), 0, MOST_DEVICES, &ordinal) != 0)
    return complain_usage("--device is \"%s\", it must be auto, emu or the number of a GPU", wish);
  return open_or_refuse(session, named_driver(), (int)ordinal);
}

void session_say_choice(struct session *session) {
  if (session->choice[0] != '\0') note("%s", session->choice);
  session->choice[0] = '\0';
}

/* ---- Runtime --------------------------------------------------------------------------------- */

static void log_line(void *user, tptx_topic topic, const char *line) {
  (void)user;
  (void)topic;
  note("%s", line);
}

enum exit_code session_runtime(const struct session *session, const struct subject *subject,
                               tptx_runtime **runtime) {
  tptx_runtime_options options;
  tptx_error error;
  tptx_error_init(&error);
  tptx_runtime_options_init(&options);
  options.driver = device_driver(session->device);
  options.target = subject->target;
  options.log = log_line;
  if (tptx_runtime_create(&options, runtime, &error) != TPTX_OK)
    return complain_refusal(subject->origin, subject->line, &error);
  return EXIT_DONE;
}

/* The emulated driver knows the line of PTX at fault, and tells it by a function of its own. */
static void find_fault(const struct session *session, char *text, size_t capacity) {
  void *found = device_entry_point(session->device, "tileptx_emu_last_error");
  const char *(*last_error)(void);
  text[0] = '\0';
  if (found == NULL) return;
  memcpy(&last_error, &found, sizeof last_error);
  snprintf(text, capacity, "%s", last_error());
}

enum exit_code session_check(const struct session *session, int code, const char *what) {
  char fault[1024];
  if (code == 0) return EXIT_DONE;
  find_fault(session, fault, sizeof fault);
  return complain(EXIT_REFUSED, "%s failed: %s (%d)%s%s", what,
                  device_error_name(session->device, code), code, fault[0] != '\0' ? ": " : "",
                  fault);
}

enum exit_code session_check_plan(const struct session *session, tptx_runtime *runtime,
                                  const struct subject *subject) {
  tptx_runtime_info info = {.struct_size = sizeof info};
  tptx_target target = subject->target;
  tptx_error error;
  tptx_error_init(&error);
  if (tptx_runtime_get_info(runtime, &info, &error) != TPTX_OK)
    return complain_refusal(subject->origin, subject->line, &error);
  if (target.sm == 0) target.sm = device_sm(session->device);
  if (target.ptx == 0) target.ptx = info.ptx;
  if (tptx_plan_check(&subject->view, &subject->op, &target, &error) != TPTX_OK)
    return complain_refusal(subject->origin, subject->line, &error);
  return EXIT_DONE;
}
