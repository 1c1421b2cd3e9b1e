/* A shared library that answers as AMD's ROCm System Management Interface does (signatures as in
 * rocm_smi.h), for machines without a GPU of AMD's. Device 0 is a module's first die, which knows
 * everything; device 1 its second, which has no counter of energy, no sensors and no serial number.
 */
#include <stdint.h>
#include <string.h>

enum { success = 0, invalid_arguments = 1, not_supported = 2, init_error = 8 };

static int initialized = 0;

static int copy(const char* text, char* out, size_t size) {
  if (!initialized) return init_error;
  strncpy(out, text, size);
  return success;
}

int rsmi_init(uint64_t flags) {
  if (flags != 0) return invalid_arguments;
  initialized++;
  return success;
}
int rsmi_shut_down(void) {
  if (!initialized) return init_error;
  initialized--;
  return success;
}
int rsmi_status_string(int status, const char** text) {
  *text = status == init_error ? "RSMI_STATUS_INIT_ERROR" : "an error";
  return success;
}
int rsmi_num_monitor_devices(uint32_t* count) {
  if (!initialized) return init_error;
  *count = 2;
  return success;
}
int rsmi_dev_name_get(uint32_t device, char* name, size_t size) {
  return copy(device == 0 ? "AMD Instinct Fake 250X" : "AMD Instinct Fake 250X die 1", name, size);
}
int rsmi_dev_unique_id_get(uint32_t device, uint64_t* id) {
  if (device != 0) return not_supported;
  *id = 0x1b2c3d4e5f607182ULL;
  return success;
}
int rsmi_dev_pci_id_get(uint32_t device, uint64_t* id) {
  /* domain 0, bus c1 or c6, device 0, function 0 */
  *id = device == 0 ? 0xc100ULL : 0xc600ULL;
  return success;
}
int rsmi_version_str_get(int component, char* text, uint32_t size) {
  if (component != 0) return invalid_arguments;
  return copy("6.3.6", text, size);
}
int rsmi_dev_memory_total_get(uint32_t device, int type, uint64_t* bytes) {
  if (type != 0) return invalid_arguments;
  *bytes = device == 0 ? 68702699520ULL : 68702699520ULL;
  return success;
}
int rsmi_dev_memory_usage_get(uint32_t device, int type, uint64_t* bytes) {
  if (type != 0 || device > 1) return invalid_arguments;
  *bytes = 8589934592ULL;
  return success;
}
int rsmi_dev_power_cap_get(uint32_t device, uint32_t sensor, uint64_t* microwatts) {
  if (device != 0 || sensor != 0) return not_supported;
  *microwatts = 560000000ULL;
  return success;
}
int rsmi_dev_power_ave_get(uint32_t device, uint32_t sensor, uint64_t* microwatts) {
  if (device != 0 || sensor != 0) return not_supported;
  *microwatts = 91000000ULL;
  return success;
}
/* Each call finds a million counts of 15.3 microjoules more. */
int rsmi_dev_energy_count_get(uint32_t device, uint64_t* count, float* resolution, uint64_t* time) {
  static uint64_t counted = 1000000000ULL;
  *resolution = 15.3f;
  *time = 0;
  *count = device == 0 ? (counted += 1000000ULL) : 0;
  return success;
}
int rsmi_dev_busy_percent_get(uint32_t device, uint32_t* percent) {
  *percent = device == 0 ? 40 : 0;
  return success;
}
int rsmi_dev_temp_metric_get(uint32_t device, uint32_t sensor, int metric, int64_t* thousandths) {
  if (device != 0 || metric != 0 || sensor != 1) return not_supported;
  *thousandths = 47000;
  return success;
}
int rsmi_dev_ecc_enabled_get(uint32_t device, uint64_t* blocks) {
  if (device != 0) return not_supported;
  *blocks = 1;
  return success;
}

struct process_info {
  uint32_t process_id, pasid;
  uint64_t vram_usage, sdma_usage;
  uint32_t cu_occupancy;
};
/* Process 4194007 uses device 0. */
int rsmi_compute_process_info_by_device_get(uint32_t pid,
                                            uint32_t device,
                                            struct process_info* info) {
  if (pid != 4194007 || device != 0) return invalid_arguments;
  info->process_id = pid;
  info->vram_usage = 2147483648ULL;
  return success;
}
