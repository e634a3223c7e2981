/*
 * A disk that fails now and then, for LD_PRELOAD: one of every FAILING_DISK_EVERY writes and syncs to a file
 * whose path holds "activity.db" fails with ENOSPC or EIO, and half of the failing writes write a part first.
 * While the file FAILING_DISK_WHILE exists, the disk is full: all of them fail with ENOSPC.
 */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/types.h>
#include <unistd.h>

static unsigned state = 0;

static unsigned next_random(void) {
  if (state == 0) {
    const char *seed = getenv("FAILING_DISK_SEED");
    state = seed ? (unsigned)atoi(seed) | 1u : 1u;
  }
  state ^= state << 13;
  state ^= state >> 17;
  state ^= state << 5;
  return state;
}

static int is_ours(int fd) {
  char link[64], path[4096];
  snprintf(link, sizeof link, "/proc/self/fd/%d", fd);
  ssize_t length = readlink(link, path, sizeof path - 1);
  if (length < 0) return 0;
  path[length] = 0;
  /* The shared-memory file is mapped: a failure to extend it is another one than of the disk. */
  return strstr(path, "activity.db") != NULL && strstr(path, "-shm") == NULL;
}

static int fails(int fd) {
  static int every = -1;
  if (every < 0) {
    const char *text = getenv("FAILING_DISK_EVERY");
    every = text ? atoi(text) : 0;
  }
  static const char *full = NULL;
  if (!full) full = getenv("FAILING_DISK_WHILE") ? getenv("FAILING_DISK_WHILE") : "";
  if (full[0] && access(full, F_OK) == 0 && is_ours(fd)) {
    errno = ENOSPC;
    return 1;
  }
  if (every <= 0 || !is_ours(fd)) return 0;
  if (next_random() % (unsigned)every != 0) return 0;
  errno = next_random() % 2 ? ENOSPC : EIO;
  return 1;
}

ssize_t pwrite64(int fd, const void *bytes, size_t count, off64_t at) {
  static ssize_t (*real)(int, const void *, size_t, off64_t) = NULL;
  if (!real) real = dlsym(RTLD_NEXT, "pwrite64");
  if (fails(fd)) {
    int error = errno;
    if (next_random() % 2) real(fd, bytes, count / 2, at);
    errno = error;
    return -1;
  }
  return real(fd, bytes, count, at);
}

ssize_t pwrite(int fd, const void *bytes, size_t count, off_t at) {
  return pwrite64(fd, bytes, count, at);
}

int fsync(int fd) {
  static int (*real)(int) = NULL;
  if (!real) real = dlsym(RTLD_NEXT, "fsync");
  return fails(fd) ? -1 : real(fd);
}

int fdatasync(int fd) {
  static int (*real)(int) = NULL;
  if (!real) real = dlsym(RTLD_NEXT, "fdatasync");
  return fails(fd) ? -1 : real(fd);
}

int ftruncate64(int fd, off64_t length) {
  static int (*real)(int, off64_t) = NULL;
  if (!real) real = dlsym(RTLD_NEXT, "ftruncate64");
  return fails(fd) ? -1 : real(fd, length);
}

int ftruncate(int fd, off_t length) { return ftruncate64(fd, length); }
