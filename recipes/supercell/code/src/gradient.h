#pragma once

#include "network.h"
#include "training_data.h"
#include "workers.h"

#include <cstdint>
#include <span>
#include <vector>

namespace supercell {

// How the gradients of the samples of a batch become one.
enum class Reduction {
  // Blocks of fixed samples are summed each on its own, then block after block: the same bits for
  // any number of workers.
  ordered,
  // Each worker sums a contiguous share of the batch, then share after share: one pass less over
  // the memory, but the rounding depends on the number of workers.
  fast
};

// Noise on the fine modes of the patches, which the target undoes: teaches the network to damp what
// is no flow, so that its own small errors do not grow when it is left to itself (after
// Sanchez-Gonzalez et al., arXiv:2002.09405). The coarse modes stay clean, for noise on them would
// drown the slow start from rest. Drawn from seed, step and place in the batch alone.
struct Noise {
  double amplitude;  // white noise of so many root mean squares of the state
  std::uint64_t seed;
};

class BatchGradient {
 public:
  // All references must outlive the object.
  BatchGradient(const TrainingData& data,
                const Normalisation& normalisation,
                const Network& network,
                Noise noise,
                Reduction reduction,
                Workers& workers);

  // The mean square error over `samples` (indices into the data) at the present weights of the
  // network; its gradient is then value().
  double evaluate(std::span<const std::uint32_t> samples);
  std::span<const double> value() const { return total_; }

  // The linear path that alone fits `samples` best, [inputs][outputs]. The same bits for any number
  // of workers.
  std::vector<double> best_linear_path(std::span<const std::uint32_t> samples);

 private:
  struct Part {
    Range samples;
    double sum = 0;
    std::vector<double> gradient;
  };

  void disturb(BlockBuffers& block, std::size_t lane, std::uint64_t place) const;
  void load(std::span<const std::uint32_t> samples, Range range, BlockBuffers& block) const;
  void split(std::size_t samples);
  void accumulate(std::span<const std::uint32_t> samples, Part& part, BlockBuffers& block) const;

  const TrainingData& data_;
  const Normalisation& normalisation_;
  std::array<double, feature_count> factor_;
  const Network& network_;
  Noise noise_;
  std::array<Mode, stencil_modes> modes_;
  std::uint64_t samples_before_ = 0;  // in all earlier batches
  Reduction reduction_;
  Workers& workers_;
  std::vector<BlockBuffers> blocks_;  // one per worker
  std::vector<Part> parts_;           // of the batch, to be summed in this order
  std::vector<double> total_;
};

}  // namespace supercell
