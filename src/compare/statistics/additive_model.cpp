#include "additive_model.hpp"

#include <algorithm>
#include <cmath>
#include <numeric>
#include <utility>

namespace sabath::compare {
namespace {

/// A symmetric positive semidefinite matrix, factored as P'L L'P up to its rank.
class PivotedCholesky {
 public:
  PivotedCholesky(std::vector<double> matrix, std::size_t size)
      : matrix_(std::move(matrix)), order_(size) {
    std::iota(order_.begin(), order_.end(), std::size_t{0});
    factor();
  }

  std::size_t rank() const { return rank_; }

  /// A solution of M x = y, if one exists; dependent columns get zero.
  std::vector<double> solve(const std::vector<double>& right) const {
    std::vector<double> y(rank_);
    for (std::size_t i = 0; i < rank_; ++i) {
      double sum = right[order_[i]];
      for (std::size_t k = 0; k < i; ++k)
        sum -= at(i, k) * y[k];
      y[i] = sum / at(i, i);
    }
    for (std::size_t i = rank_; i-- > 0;) {
      for (std::size_t k = i + 1; k < rank_; ++k)
        y[i] -= at(k, i) * y[k];
      y[i] /= at(i, i);
    }
    std::vector<double> x(order_.size(), 0);
    for (std::size_t i = 0; i < rank_; ++i)
      x[order_[i]] = y[i];
    return x;
  }

 private:
  double& at(std::size_t row, std::size_t column) { return matrix_[row * order_.size() + column]; }
  double at(std::size_t row, std::size_t column) const {
    return matrix_[row * order_.size() + column];
  }

  void swap(std::size_t i, std::size_t j) {
    if (i == j) return;
    for (std::size_t k = 0; k < order_.size(); ++k)
      std::swap(at(i, k), at(j, k));
    for (std::size_t k = 0; k < order_.size(); ++k)
      std::swap(at(k, i), at(k, j));
    std::swap(order_[i], order_[j]);
  }

  void factor() {
    const std::size_t size = order_.size();
    double largest = 0;
    for (std::size_t i = 0; i < size; ++i)
      largest = std::max(largest, at(i, i));
    for (; rank_ < size; ++rank_) {
      std::size_t pivot = rank_;
      for (std::size_t i = rank_ + 1; i < size; ++i)
        pivot = at(i, i) > at(pivot, pivot) ? i : pivot;
      if (!(at(pivot, pivot) > 1e-11 * largest)) return;
      swap(rank_, pivot);
      eliminate(rank_);
    }
  }

  /// Column k of L, and the rest of the matrix without it (both triangles are kept).
  void eliminate(std::size_t k) {
    const std::size_t size = order_.size();
    at(k, k) = std::sqrt(at(k, k));
    for (std::size_t i = k + 1; i < size; ++i)
      at(i, k) /= at(k, k);
    for (std::size_t i = k + 1; i < size; ++i) {
      const double factor = at(i, k);
      if (factor == 0) continue;
      for (std::size_t j = k + 1; j < size; ++j)
        at(i, j) -= factor * at(j, k);
    }
  }

  std::vector<double> matrix_;
  std::vector<std::size_t> order_;
  std::size_t rank_ = 0;
};

/// The model's parts: the eliminated factor, and the columns of the others side by side.
class Design {
 public:
  Design(const std::vector<Cell>& cells, std::vector<CellFactor> factors) : cells_(cells) {
    std::ranges::sort(factors, std::greater<>(), &CellFactor::count);
    largest_ = factors.front();
    factors.erase(factors.begin());
    others_ = std::move(factors);
    for (const CellFactor& other : others_) {
      offsets_.push_back(columns_);
      columns_ += other.count;
    }
    weights_.assign(largest_.count, 0);
    by_level_.resize(largest_.count);
    for (std::size_t c = 0; c < cells_.size(); ++c) {
      weights_[largest_.levels[c]] += cells_[c].weight;
      by_level_[largest_.levels[c]].push_back(c);
    }
  }

  std::size_t columns() const { return columns_; }
  std::size_t levels_in_use() const {
    return static_cast<std::size_t>(
        std::ranges::count_if(weights_, [](double w) { return w > 0; }));
  }

  /// Z'WZ - Z'WA (A'WA)^-1 A'WZ, where A is the eliminated factor and Z the others.
  std::vector<double> reduced_matrix() const {
    std::vector<double> matrix(columns_ * columns_, 0);
    std::vector<double> sums(columns_, 0);
    std::vector<std::size_t> touched;
    for (std::size_t level = 0; level < by_level_.size(); ++level) {
      touched.clear();
      for (const std::size_t c : by_level_[level]) {
        for (std::size_t f = 0; f < others_.size(); ++f) {
          const std::size_t i = column(f, c);
          if (sums[i] == 0) touched.push_back(i);
          sums[i] += cells_[c].weight;
          for (std::size_t g = 0; g < others_.size(); ++g)
            matrix[i * columns_ + column(g, c)] += cells_[c].weight;
        }
      }
      for (const std::size_t i : touched) {
        for (const std::size_t j : touched)
          matrix[i * columns_ + j] -= sums[i] * sums[j] / weights_[level];
      }
      for (const std::size_t i : touched)
        sums[i] = 0;
    }
    return matrix;
  }

  /// Subtracts from each value the mean of its level of the eliminated factor.
  void center(std::vector<double>& values) const {
    for (std::size_t level = 0; level < by_level_.size(); ++level) {
      if (by_level_[level].size() == 1) {  // exactly, whatever the weight
        values[by_level_[level].front()] = 0;
        continue;
      }
      double sum = 0;
      for (const std::size_t c : by_level_[level])
        sum += cells_[c].weight * values[c];
      for (const std::size_t c : by_level_[level])
        values[c] -= sum / weights_[level];
    }
  }

  std::vector<double> column_sums(const std::vector<double>& values) const {
    std::vector<double> sums(columns_, 0);
    for (std::size_t c = 0; c < cells_.size(); ++c) {
      for (std::size_t f = 0; f < others_.size(); ++f)
        sums[column(f, c)] += cells_[c].weight * values[c];
    }
    return sums;
  }

  void subtract_effects(const std::vector<double>& effects, std::vector<double>& values) const {
    for (std::size_t c = 0; c < cells_.size(); ++c) {
      for (std::size_t f = 0; f < others_.size(); ++f)
        values[c] -= effects[column(f, c)];
    }
  }

 private:
  std::size_t column(std::size_t factor, std::size_t cell) const {
    return offsets_[factor] + others_[factor].levels[cell];
  }

  const std::vector<Cell>& cells_;
  CellFactor largest_{};
  std::vector<CellFactor> others_{};
  std::vector<std::size_t> offsets_{};
  std::size_t columns_ = 0;
  std::vector<double> weights_{};
  std::vector<std::vector<std::size_t>> by_level_{};
};

double weighted_squares(const std::vector<Cell>& cells, const std::vector<double>& values) {
  double sum = 0;
  for (std::size_t c = 0; c < cells.size(); ++c)
    sum += cells[c].weight * values[c] * values[c];
  return sum;
}

/// Means of the cells minus the total mean.
std::vector<double> deviations(const std::vector<Cell>& cells) {
  double all = 0;
  for (const Cell& cell : cells)
    all += cell.weight;
  double mean = 0;
  for (const Cell& cell : cells)
    mean += cell.weight / all * (cell.mean - cells.front().mean);
  std::vector<double> values;
  values.reserve(cells.size());
  for (const Cell& cell : cells)
    values.push_back(cell.mean - cells.front().mean - mean);
  return values;
}

}  // namespace

AdditiveFit fit_additive(const std::vector<Cell>& cells, std::vector<CellFactor> factors) {
  std::vector<double> left = deviations(cells);
  if (factors.empty()) return {weighted_squares(cells, left), 1};
  const Design design(cells, std::move(factors));
  design.center(left);
  AdditiveFit fit;
  fit.rank = design.levels_in_use();
  if (design.columns() > 0) {
    const PivotedCholesky matrix(design.reduced_matrix(), design.columns());
    fit.rank += matrix.rank();
    // The second time takes back what rounding left of the first.
    for (int step = 0; step < 2; ++step) {
      design.subtract_effects(matrix.solve(design.column_sums(left)), left);
      design.center(left);
    }
  }
  fit.residual = weighted_squares(cells, left);
  return fit;
}

}  // namespace sabath::compare
