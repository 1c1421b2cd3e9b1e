// endless [N]: prints without end, or N bytes and then "end\n".
#include <stdlib.h>
#include <string.h>

#include <unistd.h>

int main(int argc, char** argv) {
  long left = argc > 1 ? atol(argv[1]) : -1;
  char block[4096];
  memset(block, 'y', sizeof block);
  while (left != 0) {
    const size_t size = left > 0 && left < (long)sizeof block ? (size_t)left : sizeof block;
    const ssize_t put = write(1, block, size);
    if (put < 0) return 1;
    if (left > 0) left -= put;
  }
  return write(1, "end\n", 4) == 4 ? 0 : 1;
}
