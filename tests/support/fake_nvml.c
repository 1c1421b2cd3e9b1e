/* A shared library that answers as NVIDIA's management library does, for machines without a GPU.
 * Only what sabath calls is here; signatures as in NVIDIA's NVML API reference. FAKE_NVML_DEVICES
 * is the number of GPUs, FAKE_NVML_INIT what nvmlInit_v2 returns. Device 0 knows everything; device
 * 1 is an older one that does not support MIG, ECC and clocks. */
#include <stdio.h>
#include <string.h>

#ifndef FAKE_NVML_DEVICES
#  define FAKE_NVML_DEVICES 2
#endif
#ifndef FAKE_NVML_INIT
#  define FAKE_NVML_INIT 0
#endif

enum {
  success = 0,
  uninitialized = 1,
  invalid_argument = 2,
  not_supported = 3,
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
    {"NVIDIA Fake 10",
     "GPU-55555555-6666-7777-8888-999999999999",
     "00000000:AF:00.0",
     17179869184ULL,
     70500},
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
  *mhz = type == 1 ? 1410 : 1;
  return success;
}
int nvmlDeviceGetMaxClockInfo(struct device* device, int type, unsigned* mhz) {
  if (device != &devices[0]) return not_supported;
  *mhz = type == 1 ? 1980 : 1;
  return success;
}
int nvmlDeviceGetMigMode(struct device* device, unsigned* current, unsigned* pending) {
  if (device != &devices[0]) return not_supported;
  *current = 1;
  *pending = 0;
  return success;
}
int nvmlDeviceGetEccMode(struct device* device, int* current, int* pending) {
  if (device != &devices[0]) return not_supported;
  *current = 1;
  *pending = 1;
  return success;
}
