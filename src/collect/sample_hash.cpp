#include "sample_hash.hpp"

namespace sabath::collect {

void SampleHash::add(const MetricLine& line) {
  if (line.sample_ids.empty() && line.sample_order.empty()) return;
  if (line.where.epoch != base::no_step && epoch_ != line.where.epoch) {
    epoch_ = line.where.epoch;
    hasher_.update("epoch " + std::to_string(*epoch_) + "\n");
  }
  if (!line.sample_order.empty()) {
    only_ = line.sample_order;
    ++orders_;
    hasher_.update("order " + only_ + "\n");
  }
  has_ids_ = has_ids_ || !line.sample_ids.empty();
  hasher_.update(line.sample_ids);
}

std::optional<std::string> SampleHash::finish() {
  if (orders_ == 1 && !has_ids_) return only_;
  if (orders_ == 0 && !has_ids_) return std::nullopt;
  return hasher_.finish().text();
}

}  // namespace sabath::collect
