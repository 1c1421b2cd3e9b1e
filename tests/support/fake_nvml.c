/* A shared library that answers as NVIDIA's management library does, for machines without a GPU.
 * Only what sabath calls is here; signatures as in NVIDIA's NVML API reference. FAKE_NVML_DEVICES
 * is the number of GPUs, FAKE_NVML_INIT what nvmlInit_v2 returns. Device 0 knows everything and is
 * divided into two parts; device 1 is an older one that does not support MIG, ECC, clocks and
 * energy, but tells its power. With each call device 0 has used 1.5 J more. With FAKE_NVML_ALIKE
 * both are of one model and neither is divided. */
#include <stdio.h>
#include <string.h>

#include <unistd.h>

#ifndef FAKE_NVML_DEVICES
#  define FAKE_NVML_DEVICES 2
#endif
#ifndef FAKE_NVML_ALIKE
#  define FAKE_NVML_ALIKE 0
#endif
#ifndef FAKE_NVML_INIT
#  define FAKE_NVML_INIT 0
#endif

enum {
  success = 0,
  uninitialized = 1,
  invalid_argument = 2,
  not_supported = 3,
  not_found = 6,
  insufficient_size = 7
};

struct device {
  const char* name;
  const char* uuid;
  const char* bus;
  unsigned long long memory;
  unsigned power_mw;
};

static struct device devices[2] = {
    {"NVIDIA Fake 100",
     "GPU-00000000-1111-2222-3333-444444444444",
     "00000000:3B:00.0",
     85899345920ULL,
     400000},
    {FAKE_NVML_ALIKE ? "NVIDIA Fake 100" : "NVIDIA Fake 10",
     "GPU-55555555-6666-7777-8888-999999999999",
     "00000000:AF:00.0",
     17179869184ULL,
     70500},
};

/* The parts of device 0, the second of three places being free. */
static struct device parts[2] = {
    {"NVIDIA Fake 100 MIG 3g.40gb",
     "MIG-aaaaaaaa-1111-2222-3333-444444444444",
     "",
     42949672960ULL,
     0},
    {"NVIDIA Fake 100 MIG 1g.10gb",
     "MIG-bbbbbbbb-1111-2222-3333-444444444444",
     "",
     10737418240ULL,
     0},
};

struct pci_info {
  char bus_id_legacy[16];
  unsigned domain, bus, device, pci_device_id, pci_subsystem_id;
  char bus_id[32];
};

struct memory {
  unsigned long long total, free, used;
};

static int initialized = 0;

static int copy(const char* text, char* out, unsigned size) {
  if (!initialized) return uninitialized;
  if (strlen(text) >= size) return insufficient_size;
  strcpy(out, text);
  return success;
}

int nvmlInit_v2(void) {
  if (FAKE_NVML_INIT == success) initialized++;
  return FAKE_NVML_INIT;
}
int nvmlShutdown(void) {
  if (!initialized) return uninitialized;
  initialized--;
  return success;
}
const char* nvmlErrorString(int result) {
  return result == 18 ? "RM has detected an NVML/RM version mismatch." : "Unknown Error";
}
int nvmlSystemGetDriverVersion(char* version, unsigned size) {
  return copy("999.88.77", version, size);
}
int nvmlDeviceGetCount_v2(unsigned* count) {
  if (!initialized) return uninitialized;
  *count = FAKE_NVML_DEVICES;
  return success;
}
int nvmlDeviceGetHandleByIndex_v2(unsigned index, struct device** device) {
  if (index >= FAKE_NVML_DEVICES) return invalid_argument;
  *device = &devices[index];
  return success;
}
int nvmlDeviceGetName(struct device* device, char* name, unsigned size) {
  return copy(device->name, name, size);
}
int nvmlDeviceGetUUID(struct device* device, char* uuid, unsigned size) {
  return copy(device->uuid, uuid, size);
}
int nvmlDeviceGetPciInfo_v3(struct device* device, struct pci_info* info) {
  if (device->bus[0] == 0) return not_supported;
  memset(info, 0, sizeof *info);
  return copy(device->bus, info->bus_id, sizeof info->bus_id);
}
int nvmlDeviceGetMemoryInfo(struct device* device, struct memory* memory) {
  memory->total = device->memory;
  memory->used = device->memory / 4;
  memory->free = memory->total - memory->used;
  return success;
}
int nvmlDeviceGetEnforcedPowerLimit(struct device* device, unsigned* milliwatts) {
  *milliwatts = device->power_mw;
  return success;
}
/* type 1 is NVML_CLOCK_SM */
int nvmlDeviceGetClockInfo(struct device* device, int type, unsigned* mhz) {
  if (device != &devices[0]) return not_supported;
  *mhz = type == 1 ? 1410 : type == 2 ? 1593 : 1;
  return success;
}
int nvmlDeviceGetMaxClockInfo(struct device* device, int type, unsigned* mhz) {
  if (device != &devices[0]) return not_supported;
  *mhz = type == 1 ? 1980 : 1;
  return success;
}
int nvmlDeviceGetMigMode(struct device* device, unsigned* current, unsigned* pending) {
  if (device != &devices[0]) return not_supported;
  *current = !FAKE_NVML_ALIKE;
  *pending = 0;
  return success;
}
int nvmlDeviceGetEccMode(struct device* device, int* current, int* pending) {
  if (device != &devices[0]) return not_supported;
  *current = 1;
  *pending = 1;
  return success;
}
int nvmlDeviceGetMaxMigDeviceCount(struct device* device, unsigned* count) {
  *count = device == &devices[0] ? 3 : 0;
  return success;
}
int nvmlDeviceGetMigDeviceHandleByIndex(struct device* device,
                                        unsigned index,
                                        struct device** part) {
  if (device != &devices[0] || index > 2) return invalid_argument;
  if (index == 1) return not_found;
  *part = &parts[index / 2];
  return success;
}

struct utilization {
  unsigned gpu, memory;
};
int nvmlDeviceGetUtilizationRates(struct device* device, struct utilization* use) {
  if (device != &devices[0]) return not_supported;
  use->gpu = 75;
  use->memory = 20;
  return success;
}
int nvmlDeviceGetPowerUsage(struct device* device, unsigned* milliwatts) {
  if (device->power_mw == 0) return not_supported;
  *milliwatts = device->power_mw / 2;
  return success;
}
int nvmlDeviceGetTemperature(struct device* device, int sensor, unsigned* celsius) {
  if (device != &devices[0] || sensor != 0) return not_supported;
  *celsius = 41;
  return success;
}
int nvmlDeviceGetTotalEnergyConsumption(struct device* device, unsigned long long* millijoules) {
  static unsigned long long used = 7000000;
  if (device != &devices[0]) return not_supported;
  *millijoules = used += 1500;
  return success;
}
/* Software's cap on power, and set clocks, which slow nothing down. */
int nvmlDeviceGetCurrentClocksThrottleReasons(struct device* device, unsigned long long* bits) {
  if (device != &devices[0]) return not_supported;
  *bits = 0x4 | 0x2;
  return success;
}

struct process_info {
  unsigned pid;
  unsigned long long used_memory;
  unsigned gpu_instance, compute_instance;
};
/* As the driver does: with too little room it says how much is wanted. */
static int list(const struct process_info* all,
                unsigned count,
                unsigned* room,
                struct process_info* out) {
  const unsigned had = *room;
  *room = count;
  if (had < count) return insufficient_size;
  memcpy(out, all, count * sizeof *all);
  return success;
}
int nvmlDeviceGetComputeRunningProcesses_v3(struct device* device,
                                            unsigned* count,
                                            struct process_info* infos) {
  const struct process_info all[2] = {{(unsigned)getpid(), 1073741824ULL, ~0U, ~0U},
                                      {4194000, ~0ULL, ~0U, ~0U}};
  return list(all, device == &devices[0] ? 2 : 0, count, infos);
}
int nvmlDeviceGetGraphicsRunningProcesses_v3(struct device* device,
                                             unsigned* count,
                                             struct process_info* infos) {
  const struct process_info all[2] = {{4194000, ~0ULL, ~0U, ~0U}, {4194001, 4096, ~0U, ~0U}};
  return list(all, device == &devices[0] ? 2 : 0, count, infos);
}
