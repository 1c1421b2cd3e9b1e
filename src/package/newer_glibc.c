/* What objects that were compiled for glibc 2.36 expect, for a program that is linked with 2.31:
   GCC 12's libstdc++.a and libgcc_eh.a are such objects. */
#define _GNU_SOURCE
#include <link.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

#include <sys/random.h>

/* 2.32. Never true: reference counts are always atomic. */
char __libc_single_threaded = 0;

/* 2.36: for std::random_device. */
uint32_t arc4random(void) {
  uint32_t value;
  while (getrandom(&value, sizeof value, 0) != (ssize_t)sizeof value) {
  }
  return value;
}

/* 2.35: the unwinder asks which object has an instruction, and where its table of frames is. */
struct dl_find_object {
  unsigned long long flags;
  void* map_start;
  void* map_end;
  struct link_map* link_map;
  void* eh_frame;
  unsigned long long reserved[7];
};

struct search {
  uintptr_t address;
  struct dl_find_object* result;
};

static int has_address(struct dl_phdr_info* object, size_t size, void* argument) {
  const struct search* search = argument;
  const ElfW(Phdr)* frames = NULL;
  int is_inside = 0;
  (void)size;
  for (int i = 0; i < object->dlpi_phnum; ++i) {
    const ElfW(Phdr)* part = &object->dlpi_phdr[i];
    const uintptr_t start = object->dlpi_addr + part->p_vaddr;
    if (part->p_type == PT_GNU_EH_FRAME) frames = part;
    if (part->p_type == PT_LOAD && search->address >= start &&
        search->address < start + part->p_memsz)
      is_inside = 1;
  }
  if (!is_inside || frames == NULL) return 0;
  search->result->eh_frame = (void*)(object->dlpi_addr + frames->p_vaddr);
  return 1;
}

int _dl_find_object(void* address, struct dl_find_object* result);
int _dl_find_object(void* address, struct dl_find_object* result) {
  struct search search = {(uintptr_t)address, result};
  return dl_iterate_phdr(has_address, &search) == 1 ? 0 : -1;
}
