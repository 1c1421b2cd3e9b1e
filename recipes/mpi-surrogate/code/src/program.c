#include "program.h"

#include <errno.h>
#include <hdf5.h>
#include <math.h>
#include <mpi.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

static const char* name_of_program = "stirring";

void fail(int status, const char* format, ...) {
  va_list arguments;
  va_start(arguments, format);
  fprintf(stderr, "%s: ", name_of_program);
  vfprintf(stderr, format, arguments);
  fputc('\n', stderr);
  va_end(arguments);
  fflush(NULL);
  MPI_Abort(MPI_COMM_WORLD, status);
  abort();
}

void* allocate(size_t count, size_t size) {
  void* memory = calloc(count > 0 ? count : 1, size);
  if (memory == NULL) fail(1, "no memory for %zu numbers", count);
  return memory;
}

static void read_value(const struct option_word* option, const char* word) {
  char* end = NULL;
  errno = 0;
  if (option->text != NULL) {
    *option->text = word;
    return;
  }
  if (option->whole != NULL) {
    const long value = strtol(word, &end, 10);
    if (errno != 0 || end == word || *end != '\0' || value < option->least ||
        value > option->most) {
      fail(2,
           "--%s: '%s' is not a whole number from %ld to %ld",
           option->name,
           word,
           option->least,
           option->most);
    }
    *option->whole = (int)value;
    return;
  }
  const double value = strtod(word, &end);
  if (errno != 0 || end == word || *end != '\0' || !(value > 0) || !isfinite(value)) {
    fail(2, "--%s: '%s' is not a positive number", option->name, word);
  }
  *option->real = value;
}

int read_options(const char* program, int count, char** words, const struct option_word* options) {
  name_of_program = program;
  int rank = 0;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  for (int i = 1; i < count; ++i) {
    if (strcmp(words[i], "--help") == 0) {
      for (const struct option_word* option = options; rank == 0 && option->name; ++option)
        printf("  --%-14s %s\n", option->name, option->help);
      return 0;
    }
    const struct option_word* option = options;
    while (option->name &&
           !(strncmp(words[i], "--", 2) == 0 && strcmp(words[i] + 2, option->name) == 0))
      ++option;
    if (!option->name) fail(2, "unknown option '%s'", words[i]);
    if (i + 1 == count) fail(2, "--%s: the value is missing", option->name);
    read_value(option, words[++i]);
  }
  for (const struct option_word* option = options; option->name; ++option) {
    if (option->text != NULL && *option->text == NULL) fail(2, "--%s is required", option->name);
  }
  return 1;
}

void write_tables(const char* path, const struct table* tables) {
  H5Eset_auto2(H5E_DEFAULT, NULL, NULL);
  char part[4096];
  if (snprintf(part, sizeof part, "%s.part", path) >= (int)sizeof part)
    fail(1, "%s: too long", path);
  const hid_t file = H5Fcreate(part, H5F_ACC_TRUNC, H5P_DEFAULT, H5P_DEFAULT);
  if (file < 0) fail(1, "%s: cannot be written", path);
  for (const struct table* table = tables; table->name != NULL; ++table) {
    hsize_t sizes[3];
    for (int i = 0; i < table->rank; ++i)
      sizes[i] = (hsize_t)table->sizes[i];
    const hid_t space = H5Screate_simple(table->rank, sizes, NULL);
    const hid_t creation = H5Pcreate(H5P_DATASET_CREATE);
    H5Pset_obj_track_times(creation, 0);
    const hid_t data =
        H5Dcreate2(file, table->name, H5T_IEEE_F64LE, space, H5P_DEFAULT, creation, H5P_DEFAULT);
    if (data < 0 ||
        H5Dwrite(data, H5T_NATIVE_DOUBLE, H5S_ALL, H5S_ALL, H5P_DEFAULT, table->values) < 0) {
      fail(1, "%s: %s cannot be written", path, table->name);
    }
    H5Dclose(data);
    H5Pclose(creation);
    H5Sclose(space);
  }
  if (H5Fclose(file) < 0 || rename(part, path) != 0) fail(1, "%s: cannot be written", path);
}

void read_table(const char* path, struct table* table) {
  H5Eset_auto2(H5E_DEFAULT, NULL, NULL);
  const hid_t file = H5Fopen(path, H5F_ACC_RDONLY, H5P_DEFAULT);
  if (file < 0) fail(1, "%s: cannot be read as HDF5", path);
  const hid_t data = H5Dopen2(file, table->name, H5P_DEFAULT);
  if (data < 0) fail(1, "%s: has no '%s'", path, table->name);
  const hid_t space = H5Dget_space(data);
  if (H5Sget_simple_extent_ndims(space) != table->rank)
    fail(1, "%s: %s: wrong rank", path, table->name);
  hsize_t sizes[3] = {1, 1, 1};
  H5Sget_simple_extent_dims(space, sizes, NULL);
  size_t total = 1;
  for (int i = 0; i < table->rank; ++i) {
    if (sizes[i] > 1U << 24U) fail(1, "%s: %s: too large", path, table->name);
    table->sizes[i] = (int)sizes[i];
    total *= sizes[i];
  }
  table->values = allocate(total, sizeof(double));
  if (H5Dread(data, H5T_NATIVE_DOUBLE, H5S_ALL, H5S_ALL, H5P_DEFAULT, table->values) < 0) {
    fail(1, "%s: %s cannot be read", path, table->name);
  }
  for (size_t i = 0; i < total; ++i) {
    if (!isfinite(table->values[i]))
      fail(1, "%s: %s has values that are not finite", path, table->name);
  }
  H5Sclose(space);
  H5Dclose(data);
  H5Fclose(file);
}

static void check_metrics(int problem) {
  if (problem != 0) fail(1, "$SABATH_METRICS: cannot be written: %s", strerror(problem));
}

void open_metrics(void) {
  check_metrics(sabath_log_open());
}

void report_metrics(const sabath_log_value* values, size_t count, int64_t step, int64_t epoch) {
  check_metrics(sabath_log_values(values, count, step, epoch));
}
