/* SPDX-License-Identifier: Apache-2.0 */
#define _POSIX_C_SOURCE 200809L

#include "subprocess.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/types.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

extern char **environ;

/* ---- Finding --------------------------------------------------------------------------------- */

static int is_program(const char *path) {
  struct stat status;
  return stat(path, &status) == 0 && S_ISREG(status.st_mode) && access(path, X_OK) == 0;
}

/* `length` bytes of `folder`, "middle" and `name`; an empty folder is the current one. */
static int try_folder(const char *folder, size_t length, const char *middle, const char *name,
                      char *path, size_t capacity) {
  if (length == 0) {
    folder = ".";
    length = 1;
  }
  int written = snprintf(path, capacity, "%.*s%s/%s", (int)length, folder, middle, name);
  return written >= 0 && (size_t)written < capacity && is_program(path) ? 0 : -1;
}

static int search_path(const char *name, char *path, size_t capacity) {
  const char *folders = getenv("PATH");
  while (folders != NULL) {
    size_t length = strcspn(folders, ":");
    if (try_folder(folders, length, "", name, path, capacity) == 0) return 0;
    folders = folders[length] == ':' ? folders + length + 1 : NULL;
  }
  return -1;
}

int program_find(const char *name, const char *variable, char *path, size_t capacity) {
  static const char *const toolkits[] = {"CUDA_HOME", "CUDA_PATH"};
  const char *named = getenv(variable);
  if (named != NULL && named[0] != '\0') {
    if (strchr(named, '/') == NULL) return search_path(named, path, capacity);
    snprintf(path, capacity, "%s", named);
    return strlen(named) < capacity && is_program(path) ? 0 : -1;
  }
  if (search_path(name, path, capacity) == 0) return 0;
  for (size_t i = 0; i < sizeof toolkits / sizeof toolkits[0]; i++) {
    const char *folder = getenv(toolkits[i]);
    if (folder != NULL && folder[0] != '\0' &&
        try_folder(folder, strlen(folder), "/bin", name, path, capacity) == 0)
      return 0;
  }
  static const char usual[] = "/usr/local/cuda";
  return try_folder(usual, strlen(usual), "/bin", name, path, capacity);
}

/* ---- Running --------------------------------------------------------------------------------- */

static double now_in_milliseconds(void) {
  struct timespec now;
  clock_gettime(CLOCK_MONOTONIC, &now);
  return (double)now.tv_sec * 1e3 + (double)now.tv_nsec * 1e-6;
}

static int make_pipe(int ends[2]) {
  if (pipe(ends) != 0) return errno;
  fcntl(ends[0], F_SETFD, FD_CLOEXEC);
  fcntl(ends[1], F_SETFD, FD_CLOEXEC);
  return 0;
}

static int start(char *const argv[], int output, pid_t *child) {
  posix_spawn_file_actions_t actions;
  int reason = posix_spawn_file_actions_init(&actions);
  if (reason != 0) return reason;
  reason = posix_spawn_file_actions_addopen(&actions, STDIN_FILENO, "/dev/null", O_RDONLY, 0);
  if (reason == 0) reason = posix_spawn_file_actions_adddup2(&actions, output, STDOUT_FILENO);
  if (reason == 0) reason = posix_spawn_file_actions_adddup2(&actions, output, STDERR_FILENO);
  if (reason == 0) reason = posix_spawn(child, argv[0], &actions, NULL, argv, environ);
  posix_spawn_file_actions_destroy(&actions);
  return reason;
}

/* Reads to the end of the pipe (0) or of the time (-1); what does not fit is read and dropped. */
static int collect(int input, double deadline, char *text, size_t capacity) {
  size_t used = 0;
  char rest[4096];
  for (;;) {
    struct pollfd wait = {.fd = input, .events = POLLIN};
    double left = deadline - now_in_milliseconds();
    if (left <= 0) return -1;
    int ready = poll(&wait, 1, left < 1e6 ? (int)left + 1 : 1000000);
    if (ready == 0 || (ready < 0 && errno == EINTR)) continue;
    int fits = used < capacity - 1;
    ssize_t got =
        fits ? read(input, text + used, capacity - 1 - used) : read(input, rest, sizeof rest);
    if (got < 0 && errno == EINTR) continue;
    if (got <= 0) return 0;
    if (fits) used += (size_t)got;
    text[used] = '\0';
  }
}

void program_run(char *const argv[], int seconds, struct program_result *result) {
  int ends[2];
  int status = 0;
  pid_t child = 0;
  double begin = now_in_milliseconds();
  memset(result, 0, sizeof *result);
  result->reason = make_pipe(ends);
  if (result->reason != 0) return;
  result->reason = start(argv, ends[1], &child);
  close(ends[1]);
  if (result->reason == 0) {
    result->started = 1;
    if (collect(ends[0], begin + seconds * 1e3, result->text, sizeof result->text) != 0) {
      result->timed_out = 1;
      kill(child, SIGKILL);
    }
    pid_t ended;
    do ended = waitpid(child, &status, 0);
    while (ended < 0 && errno == EINTR);
    result->exit_code = WIFEXITED(status) ? WEXITSTATUS(status) : -1;
    result->milliseconds = now_in_milliseconds() - begin;
  }
  close(ends[0]);
}
