/* A library to be preloaded under which the wall clock jumps hours and days back and forth, a jump
 * at each look; or with CLOCK_SHIM_SECONDS in the environment is wrong by so many. What measures
 * durations, and the clocks of the kernel, are left alone. */
#define _GNU_SOURCE
#include <stdatomic.h>
#include <stdlib.h>
#include <time.h>

#include <sys/syscall.h>
#include <sys/time.h>
#include <unistd.h>

static atomic_uint looks;

static time_t jump(void) {
  const char* wrong = getenv("CLOCK_SHIM_SECONDS");
  static const time_t jumps[] = {0, -7200, 86400, -30, 0, -86400 * 400, 5, 3600};
  if (wrong != NULL) return atol(wrong);
  return jumps[atomic_fetch_add(&looks, 1) % (sizeof jumps / sizeof jumps[0])];
}

int clock_gettime(clockid_t clock, struct timespec* now) {
  const int result = (int)syscall(SYS_clock_gettime, clock, now);
  if (result == 0 && (clock == CLOCK_REALTIME || clock == CLOCK_REALTIME_COARSE))
    now->tv_sec += jump();
  return result;
}

int gettimeofday(struct timeval* restrict now, void* restrict zone) {
  struct timespec exact;
  (void)zone;
  if (clock_gettime(CLOCK_REALTIME, &exact) != 0) return -1;
  now->tv_sec = exact.tv_sec;
  now->tv_usec = exact.tv_nsec / 1000;
  return 0;
}

time_t time(time_t* where) {
  struct timespec now;
  if (clock_gettime(CLOCK_REALTIME, &now) != 0) return -1;
  if (where != NULL) *where = now.tv_sec;
  return now.tv_sec;
}
