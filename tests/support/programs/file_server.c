// An HTTP/1.1 server of the files beneath a folder, with a token bucket for each connection and one
// for all of them; short ranges and many requests do not evade either. One thread, no logs.
//   file_server FOLDER [PER_CONNECTION [IN_ALL [DELAY_MS]]]     bytes a second; 0: no limit
// DELAY_MS passes before each answer. Prints its port. Ranges, If-Range, strong ETags, connections
// that stay open. "GET /.served" tells how many bytes of bodies were sent.
#define _GNU_SOURCE
#include <errno.h>
#include <limits.h>
#include <netinet/tcp.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include <arpa/inet.h>
#include <fcntl.h>
#include <signal.h>
#include <sys/epoll.h>
#include <sys/sendfile.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>

enum { max_connections = 4096, request_bytes = 16384, slice = 262144 };

// Holds at most a twentieth of a second's bytes, so that an idle connection saves up nothing.
struct bucket {
  double rate, tokens, filled;
};

struct connection {
  int fd, file;
  char in[request_bytes];
  size_t in_bytes;
  char head[512];
  size_t head_begin, head_end;
  off_t begin, end;
  double ready;  // when the answer may begin
  struct bucket bucket;
  int has_answer, wants_write;
};

static struct connection* connections[max_connections];
static struct bucket all;
static double per_connection, delay;
static unsigned long long served;
static int root, loop;

static double now(void) {
  struct timespec t;
  clock_gettime(CLOCK_MONOTONIC, &t);
  return (double)t.tv_sec + (double)t.tv_nsec * 1e-9;
}

static double burst(const struct bucket* b) {
  return b->rate / 20 > 16384 ? b->rate / 20 : 16384;
}

static void fill(struct bucket* b, double t) {
  if (b->rate <= 0) return;
  b->tokens += (t - b->filled) * b->rate;
  b->filled = t;
  if (b->tokens > burst(b)) b->tokens = burst(b);
}

// How many bytes may go now.
static size_t allowed(struct connection* c, double t) {
  double most = slice;
  fill(&c->bucket, t);
  fill(&all, t);
  if (c->bucket.rate > 0 && c->bucket.tokens < most) most = c->bucket.tokens;
  if (all.rate > 0 && all.tokens < most) most = all.tokens;
  return most < 1 ? 0 : (size_t)most;
}

static void finish(struct connection* c) {
  connections[c->fd] = NULL;
  close(c->fd);
  if (c->file >= 0) close(c->file);
  free(c);
}

static const char* header(const char* request, const char* name, char* value, size_t size) {
  const char* line = strcasestr(request, name);
  if (line == NULL) return NULL;
  line += strlen(name);
  while (*line == ' ')
    ++line;
  size_t n = strcspn(line, "\r\n");
  if (n >= size) n = size - 1;
  memcpy(value, line, n);
  value[n] = '\0';
  return value;
}

static void say(struct connection* c, const char* status, const char* more, off_t length) {
  c->head_begin = 0;
  c->head_end =
      (size_t)snprintf(c->head,
                       sizeof c->head,
                       "HTTP/1.1 %s\r\nContent-Length: %lld\r\nAccept-Ranges: bytes\r\n%s\r\n",
                       status,
                       (long long)length,
                       more);
}

static void say_served(struct connection* c) {
  char body[32];
  int n = snprintf(body, sizeof body, "%llu", served);
  say(c, "200 OK", "", n);
  c->head_end += (size_t)snprintf(c->head + c->head_end, sizeof c->head - c->head_end, "%s", body);
}

static void answer_file(struct connection* c, const char* request, const struct stat* status) {
  char etag[64], value[256], more[256];
  snprintf(
      etag,
      sizeof etag,
      "\"%llx-%llx\"",
      (unsigned long long)status->st_size,
      (unsigned long long)status->st_mtim.tv_nsec ^ (unsigned long long)status->st_mtim.tv_sec);
  const int same =
      !header(request, "\r\nIf-Range:", value, sizeof value) || strcmp(value, etag) == 0;
  unsigned long long first = 0, last = 0;
  c->begin = 0;
  c->end = status->st_size;
  int fields = 0;
  if (same && header(request, "\r\nRange:", value, sizeof value))
    fields = sscanf(value, "bytes=%llu-%llu", &first, &last);
  if (fields == 0) {
    snprintf(more, sizeof more, "ETag: %s\r\n", etag);
    say(c, "200 OK", more, c->end);
  } else if ((off_t)first >= status->st_size) {
    snprintf(more, sizeof more, "Content-Range: bytes */%lld\r\n", (long long)status->st_size);
    c->end = 0;
    say(c, "416 Range Not Satisfiable", more, 0);
  } else {
    c->begin = (off_t)first;
    if (fields == 2 && (off_t)last < c->end) c->end = (off_t)last + 1;
    snprintf(more,
             sizeof more,
             "ETag: %s\r\nContent-Range: bytes %lld-%lld/%lld\r\n",
             etag,
             (long long)c->begin,
             (long long)c->end - 1,
             (long long)status->st_size);
    say(c, "206 Partial Content", more, c->end - c->begin);
  }
}

static void answer(struct connection* c) {
  char path[PATH_MAX] = "";
  struct stat status;
  c->has_answer = 1;
  c->begin = c->end = 0;
  sscanf(c->in, "GET /%4000s", path);
  path[strcspn(path, "?#")] = '\0';
  if (strcmp(path, ".served") == 0) {
    say_served(c);
    return;
  }
  c->file = openat(root, path, O_RDONLY | O_CLOEXEC);
  if (c->file < 0 || fstat(c->file, &status) != 0 || !S_ISREG(status.st_mode)) {
    say(c, "404 Not Found", "", 0);
    return;
  }
  answer_file(c, c->in, &status);
}

static int take_request(struct connection* c) {
  char* end = memmem(c->in, c->in_bytes, "\r\n\r\n", 4);
  if (end == NULL) return 0;
  end[2] = '\0';
  answer(c);
  c->ready = delay > 0 ? now() + delay : 0;
  const size_t used = (size_t)(end - c->in) + 4;
  memmove(c->in, c->in + used, c->in_bytes - used);
  c->in_bytes -= used;
  return 1;
}

// 0: cannot go on now; -1: the connection is over.
static int send_some(struct connection* c, double t) {
  if (t < c->ready) return 0;
  while (c->head_begin < c->head_end) {
    const int flags = MSG_NOSIGNAL | (c->begin < c->end ? MSG_MORE : 0);
    const ssize_t n = send(c->fd, c->head + c->head_begin, c->head_end - c->head_begin, flags);
    if (n < 0) return errno == EAGAIN ? 0 : -1;
    c->head_begin += (size_t)n;
  }
  while (c->begin < c->end) {
    size_t n = allowed(c, t);
    if (n == 0) return 0;
    if ((off_t)n > c->end - c->begin) n = (size_t)(c->end - c->begin);
    const ssize_t sent = sendfile(c->fd, c->file, &c->begin, n);
    if (sent < 0) return errno == EAGAIN ? 0 : -1;
    if (sent == 0) return -1;
    served += (unsigned long long)sent;
    c->bucket.tokens -= (double)sent;
    all.tokens -= (double)sent;
    if (c->bucket.rate <= 0 && all.rate <= 0) break;  // others want their turn
  }
  if (c->begin < c->end) return 1;
  if (c->file >= 0) close(c->file);
  c->file = -1;
  c->has_answer = 0;
  return 1;
}

static void want(struct connection* c, int write) {
  if (c->wants_write == write) return;
  struct epoll_event event = {.events = EPOLLIN | (write ? EPOLLOUT : 0), .data.fd = c->fd};
  c->wants_write = write;
  epoll_ctl(loop, EPOLL_CTL_MOD, c->fd, &event);
}

static void move_on(struct connection* c, double t) {
  while (c->has_answer || take_request(c)) {
    const off_t before = c->begin;
    const int result = send_some(c, t);
    if (result < 0) {
      finish(c);
      return;
    }
    if (result == 0 || (c->has_answer && c->begin > before)) break;
  }
  const int paced = c->has_answer && (t < c->ready || allowed(c, t) == 0);
  want(c, c->has_answer && !paced);
}

static void receive(struct connection* c) {
  const size_t room = sizeof c->in - 1 - c->in_bytes;
  const ssize_t n = recv(c->fd, c->in + c->in_bytes, room, 0);
  if (n == 0 || room == 0 || (n < 0 && errno != EAGAIN)) {
    finish(c);
    return;
  }
  if (n > 0) c->in_bytes += (size_t)n;
  move_on(c, now());
}

static void welcome(int listener) {
  const int fd = accept4(listener, NULL, NULL, SOCK_NONBLOCK | SOCK_CLOEXEC);
  if (fd < 0 || fd >= max_connections) {
    if (fd >= 0) close(fd);
    return;
  }
  const int on = 1, buffer = 262144;
  setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &on, sizeof on);
  // A small buffer: what waits in it was let out already, and is lost when the client leaves.
  if (per_connection > 0 || all.rate > 0)
    setsockopt(fd, SOL_SOCKET, SO_SNDBUF, &buffer, sizeof buffer);
  struct connection* c = calloc(1, sizeof *c);
  c->fd = fd;
  c->file = -1;
  c->bucket.rate = per_connection;
  c->bucket.filled = now();
  connections[fd] = c;
  struct epoll_event event = {.events = EPOLLIN, .data.fd = fd};
  epoll_ctl(loop, EPOLL_CTL_ADD, fd, &event);
}

static int listen_somewhere(void) {
  struct sockaddr_in address = {.sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
  socklen_t size = sizeof address;
  const int fd = socket(AF_INET, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
  if (fd < 0 || bind(fd, (struct sockaddr*)&address, size) != 0 || listen(fd, 1024) != 0) exit(1);
  getsockname(fd, (struct sockaddr*)&address, &size);
  printf("%d\n", ntohs(address.sin_port));
  fflush(stdout);
  return fd;
}

static double number(int count, char** values, int index) {
  return index < count ? atof(values[index]) : 0;
}

int main(int count, char** values) {
  if (count < 2) return 2;
  signal(SIGPIPE, SIG_IGN);
  root = open(values[1], O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  if (root < 0) return 1;
  per_connection = number(count, values, 2);
  all.rate = number(count, values, 3);
  delay = number(count, values, 4) / 1000;
  all.filled = now();
  loop = epoll_create1(EPOLL_CLOEXEC);
  const int listener = listen_somewhere();
  struct epoll_event event = {.events = EPOLLIN, .data.fd = listener};
  epoll_ctl(loop, EPOLL_CTL_ADD, listener, &event);
  const int is_paced = per_connection > 0 || all.rate > 0 || delay > 0;
  for (int turn = 0;; ++turn) {
    struct epoll_event events[256];
    const int n = epoll_wait(loop, events, 256, is_paced ? 2 : -1);
    for (int i = 0; i < n; ++i) {
      const int fd = events[i].data.fd;
      if (fd == listener)
        welcome(listener);
      else if (connections[fd] != NULL && (events[i].events & EPOLLIN))
        receive(connections[fd]);
      else if (connections[fd] != NULL)
        move_on(connections[fd], now());
    }
    if (!is_paced) continue;
    const double t = now();
    for (int i = 0; i < max_connections;
         ++i) {  // in turn, so that none gets all of what is for all
      struct connection* const c = connections[(turn * 7 + i) % max_connections];
      if (c != NULL && c->has_answer && !c->wants_write) move_on(c, t);
    }
  }
}
