#include "cpu_set.hpp"

#include <sched.h>

#include <array>

namespace sabath::probe {

std::optional<CpuSet> CpuSet::parse(const std::string& list) {
  Bitmap bitmap(hwloc_bitmap_alloc());
  if (!bitmap || hwloc_bitmap_list_sscanf(bitmap.get(), list.c_str()) != 0) return std::nullopt;
  if (hwloc_bitmap_weight(bitmap.get()) < 1) return std::nullopt;
  return CpuSet(std::move(bitmap));
}

std::optional<CpuSet> CpuSet::affinity() {
  std::array<unsigned long, 256> words{};  // 16,384 hardware threads: more than Linux can have
  const auto mask = reinterpret_cast<cpu_set_t*>(words.data());
  if (::sched_getaffinity(0, sizeof(words), mask) != 0) return std::nullopt;
  Bitmap bitmap(hwloc_bitmap_alloc());
  if (!bitmap || hwloc_bitmap_from_ulongs(bitmap.get(), words.size(), words.data()) != 0) {
    return std::nullopt;
  }
  return CpuSet(std::move(bitmap));
}

void CpuSet::intersect(const CpuSet& other) {
  hwloc_bitmap_and(bitmap_.get(), bitmap_.get(), other.bitmap_.get());
}

int CpuSet::count() const {
  return hwloc_bitmap_weight(bitmap_.get());
}

bool CpuSet::contains(int cpu) const {
  return cpu >= 0 && hwloc_bitmap_isset(bitmap_.get(), static_cast<unsigned>(cpu)) != 0;
}

std::vector<int> CpuSet::members() const {
  std::vector<int> cpus;
  for (int cpu = hwloc_bitmap_first(bitmap_.get()); cpu >= 0;
       cpu = hwloc_bitmap_next(bitmap_.get(), cpu))
    cpus.push_back(cpu);
  return cpus;
}

}  // namespace sabath::probe
