/* A library to be preloaded that makes files on some path misbehave as network and full file
 * systems do. What it does is said by the environment: FAULT_PATH   only files whose path has this
 * in it, and only they FAULT_LOCKS  "granted": flock and fcntl locks succeed and lock nothing;
 * "ENOLCK": they fail FAULT_STALE  so many calls of stat and open fail with ESTALE, then they work;
 * every second one of them is let through FAULT_FULL   "ENOSPC:N" or "EDQUOT:N": after N bytes
 * written nothing more can be written or allocated FAULT_SYNC, FAULT_CLOSE   "EIO": fsync fails,
 * close fails (and closes) FAULT_SHORT  no write takes more than so many bytes Calls go straight to
 * the kernel, so that it works beneath a sanitizer, too. */
#define _GNU_SOURCE
#include <errno.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <fcntl.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

static atomic_long written;
static atomic_long looked;

static int path_matches(const char* path) {
  const char* wanted = getenv("FAULT_PATH");
  return wanted != NULL && path != NULL && strstr(path, wanted) != NULL;
}

static int fd_matches(int fd) {
  char link[64];
  char path[4096];
  snprintf(link, sizeof link, "/proc/self/fd/%d", fd);
  const long length = syscall(SYS_readlinkat, AT_FDCWD, link, path, sizeof path - 1);
  if (length < 0) return 0;
  path[length] = '\0';
  return path_matches(path);
}

static int is_set(const char* name, const char* value) {
  const char* text = getenv(name);
  return text != NULL && strcmp(text, value) == 0;
}

static int is_stale(const char* path) {
  const char* text = getenv("FAULT_STALE");
  if (text == NULL || !path_matches(path)) return 0;
  const long look = atomic_fetch_add(&looked, 1);
  if (look % 2 != 0 || look / 2 >= atol(text)) return 0;
  errno = ESTALE;
  return 1;
}

/* How much of `count` may be written; -1 with errno when nothing. */
static long allowed(int fd, size_t count) {
  const char* limit = getenv("FAULT_FULL");
  const char* most = getenv("FAULT_SHORT");
  long may = (long)count;
  if ((limit == NULL && most == NULL) || !fd_matches(fd)) return may;
  if (most != NULL && may > atol(most)) may = atol(most);
  if (limit == NULL) return may;
  const char* colon = strchr(limit, ':');
  const long left = atol(colon + 1) - atomic_load(&written);
  if (count > 0 && left <= 0) {
    errno = strncmp(limit, "EDQUOT", 6) == 0 ? EDQUOT : ENOSPC;
    return -1;
  }
  if (may > left) may = left;
  atomic_fetch_add(&written, may);
  return may;
}

ssize_t write(int fd, const void* bytes, size_t count) {
  const long may = allowed(fd, count);
  return may < 0 ? -1 : syscall(SYS_write, fd, bytes, may);
}

ssize_t pwrite64(int fd, const void* bytes, size_t count, off64_t offset) {
  const long may = allowed(fd, count);
  return may < 0 ? -1 : syscall(SYS_pwrite64, fd, bytes, may, offset);
}

ssize_t pwrite(int fd, const void* bytes, size_t count, off_t offset) {
  return pwrite64(fd, bytes, count, offset);
}

int fallocate64(int fd, int mode, off64_t offset, off64_t length) {
  const char* limit = getenv("FAULT_FULL");
  if (limit != NULL && fd_matches(fd) && offset + length > atol(strchr(limit, ':') + 1)) {
    errno = strncmp(limit, "EDQUOT", 6) == 0 ? EDQUOT : ENOSPC;
    /* Not every file system can tell beforehand. */
    if (getenv("FAULT_LATE") != NULL) errno = EOPNOTSUPP;
    return -1;
  }
  return (int)syscall(SYS_fallocate, fd, mode, offset, length);
}

int fallocate(int fd, int mode, off_t offset, off_t length) {
  return fallocate64(fd, mode, offset, length);
}

static int sync_fails(int fd) {
  if (!is_set("FAULT_SYNC", "EIO") || !fd_matches(fd)) return 0;
  errno = EIO;
  return 1;
}

int fsync(int fd) {
  return sync_fails(fd) ? -1 : (int)syscall(SYS_fsync, fd);
}

int fdatasync(int fd) {
  return sync_fails(fd) ? -1 : (int)syscall(SYS_fdatasync, fd);
}

int syncfs(int fd) {
  return sync_fails(fd) ? -1 : (int)syscall(SYS_syncfs, fd);
}

int close(int fd) {
  const int fails = is_set("FAULT_CLOSE", "EIO") && fd_matches(fd);
  const int result = (int)syscall(SYS_close, fd);
  if (!fails) return result;
  errno = EIO;
  return -1;
}

int openat64(int folder, const char* path, int flags, ...) {
  va_list rest;
  va_start(rest, flags);
  const mode_t mode = (flags & (O_CREAT | __O_TMPFILE)) != 0 ? va_arg(rest, mode_t) : 0;
  va_end(rest);
  if (is_stale(path)) return -1;
  return (int)syscall(SYS_openat, folder, path, flags, mode);
}

#define PASS_OPEN(name, folder)                                                          \
  va_list rest;                                                                          \
  va_start(rest, flags);                                                                 \
  const mode_t mode = (flags & (O_CREAT | __O_TMPFILE)) != 0 ? va_arg(rest, mode_t) : 0; \
  va_end(rest);                                                                          \
  return openat64(folder, path, flags, mode)

int openat(int folder, const char* path, int flags, ...) {
  PASS_OPEN(openat, folder);
}

int open64(const char* path, int flags, ...) {
  PASS_OPEN(open64, AT_FDCWD);
}

int open(const char* path, int flags, ...) {
  PASS_OPEN(open, AT_FDCWD);
}

#ifdef SYS_newfstatat
int fstatat(int folder, const char* path, struct stat* status, int flags) {
  return is_stale(path) ? -1 : (int)syscall(SYS_newfstatat, folder, path, status, flags);
}

int fstatat64(int folder, const char* path, struct stat64* status, int flags) {
  return is_stale(path) ? -1 : (int)syscall(SYS_newfstatat, folder, path, status, flags);
}

int stat(const char* path, struct stat* status) {
  return fstatat(AT_FDCWD, path, status, 0);
}

int stat64(const char* path, struct stat64* status) {
  return fstatat64(AT_FDCWD, path, status, 0);
}

int lstat(const char* path, struct stat* status) {
  return fstatat(AT_FDCWD, path, status, AT_SYMLINK_NOFOLLOW);
}

int lstat64(const char* path, struct stat64* status) {
  return fstatat64(AT_FDCWD, path, status, AT_SYMLINK_NOFOLLOW);
}
#endif

/* 1: has failed; 0: seems granted; -1: is not ours. */
static int lock_fault(int fd) {
  const char* locks = getenv("FAULT_LOCKS");
  if (locks == NULL || !fd_matches(fd)) return -1;
  if (strcmp(locks, "granted") == 0) return 0;
  errno = ENOLCK;
  return 1;
}

int flock(int fd, int operation) {
  const int fault = lock_fault(fd);
  return fault < 0 ? (int)syscall(SYS_flock, fd, operation) : -fault;
}

int fcntl64(int fd, int command, ...) {
  va_list rest;
  va_start(rest, command);
  void* argument = va_arg(rest, void*);
  va_end(rest);
  const int locks = command == F_SETLK || command == F_SETLKW || command == F_OFD_SETLK ||
                    command == F_OFD_SETLKW;
  const int fault = locks ? lock_fault(fd) : -1;
  return fault < 0 ? (int)syscall(SYS_fcntl, fd, command, argument) : -fault;
}

int fcntl(int fd, int command, ...) {
  va_list rest;
  va_start(rest, command);
  void* argument = va_arg(rest, void*);
  va_end(rest);
  return fcntl64(fd, command, argument);
}
