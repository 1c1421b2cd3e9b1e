#pragma once

#include <hwloc.h>

#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace sabath::probe {

/// A set of hardware threads by the kernel's numbers.
class CpuSet {
 public:
  /// Reads the kernel's list form "0-3,8"; nothing when malformed or empty.
  static std::optional<CpuSet> parse(const std::string& list);
  /// Where this thread may run (sched_getaffinity); nothing when the kernel does not tell.
  static std::optional<CpuSet> affinity();

  void intersect(const CpuSet& other);
  int count() const;
  bool contains(int cpu) const;
  std::vector<int> members() const;  ///< ascending

 private:
  struct Free {
    void operator()(hwloc_bitmap_t bitmap) const { hwloc_bitmap_free(bitmap); }
  };
  using Bitmap = std::unique_ptr<hwloc_bitmap_s, Free>;
  explicit CpuSet(Bitmap bitmap) : bitmap_(std::move(bitmap)) {}

  Bitmap bitmap_;
};

}  // namespace sabath::probe
