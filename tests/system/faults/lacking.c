/* A library for LD_PRELOAD: a clock that has jumped, and a disk that is slow or refuses writes.

   LACKING names a file of four 64-bit numbers, which all processes share: the jump of the clock
   [s], the number of the error of a write (0 for none), the writes before the first error, and the
   delay of each write [us]. They concern the files below the folder LACKING_PLACE. */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/time.h>
#include <time.h>
#include <unistd.h>

enum { JUMP, ERROR, BEFORE, DELAY, NUMBERS };

static int64_t *numbers;
static const char *place;

__attribute__((constructor)) static void begin(void) {
    int file = open(getenv("LACKING"), O_RDWR | O_CLOEXEC);
    void *shared = mmap(NULL, NUMBERS * sizeof *numbers, PROT_READ | PROT_WRITE, MAP_SHARED, file, 0);
    close(file);
    place = getenv("LACKING_PLACE");
    if (shared != MAP_FAILED && place) numbers = shared;
}

static int refused(int file) {
    char name[32], path[PATH_MAX];
    if (!numbers || !(numbers[ERROR] || numbers[DELAY])) return 0;
    snprintf(name, sizeof name, "/proc/self/fd/%d", file);
    ssize_t length = readlink(name, path, sizeof path - 1);
    if (length < 0 || strncmp(path, place, strlen(place))) return 0;
    struct timespec delay = {0, numbers[DELAY] * 1000};
    nanosleep(&delay, NULL);
    if (!numbers[ERROR] || __sync_fetch_and_sub(&numbers[BEFORE], 1) > 0) return 0;
    errno = (int)numbers[ERROR];
    return 1;
}

#define REAL(type, name, ...) \
    static type (*real)(__VA_ARGS__); \
    if (!real) real = (type (*)(__VA_ARGS__))dlsym(RTLD_NEXT, name)

ssize_t write(int file, const void *bytes, size_t count) {
    REAL(ssize_t, "write", int, const void *, size_t);
    return refused(file) ? -1 : real(file, bytes, count);
}

ssize_t pwrite64(int file, const void *bytes, size_t count, off64_t at) {
    REAL(ssize_t, "pwrite64", int, const void *, size_t, off64_t);
    return refused(file) ? -1 : real(file, bytes, count, at);
}

ssize_t pwrite(int file, const void *bytes, size_t count, off_t at) {
    return pwrite64(file, bytes, count, at);
}

int fsync(int file) {
    REAL(int, "fsync", int);
    return refused(file) ? -1 : real(file);
}

int fdatasync(int file) {
    REAL(int, "fdatasync", int);
    return refused(file) ? -1 : real(file);
}

int clock_gettime(clockid_t clock, struct timespec *now) {
    REAL(int, "clock_gettime", clockid_t, struct timespec *);
    int failed = real(clock, now);
    if (numbers && (clock == CLOCK_REALTIME || clock == CLOCK_REALTIME_COARSE))
        now->tv_sec += numbers[JUMP];
    return failed;
}

int gettimeofday(struct timeval *now, void *zone) {
    struct timespec precise;
    (void)zone;
    clock_gettime(CLOCK_REALTIME, &precise);
    now->tv_sec = precise.tv_sec;
    now->tv_usec = precise.tv_nsec / 1000;
    return 0;
}

time_t time(time_t *result) {
    struct timespec now;
    clock_gettime(CLOCK_REALTIME, &now);
    if (result) *result = now.tv_sec;
    return now.tv_sec;
}
