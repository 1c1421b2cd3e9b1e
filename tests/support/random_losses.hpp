#pragma once

#include <cstddef>
#include <random>
#include <string>
#include <vector>

namespace sabath::test {

/// A loss that depends on up to 64 changes, by one to four causes: a change alone, some only
/// together, one that another masks, and two that cancel each other. 0 without any change.
class Losses {
 public:
  Losses(std::size_t count, std::mt19937& random) : count_(count), random_(random) {
    const std::size_t causes = pick(4) + 1;
    for (std::size_t cause = 0; cause < causes; ++cause)
      add_cause();
  }

  /// With the changes whose bits are set.
  int loss(std::size_t bits) const {
    int sum = 0;
    for (const Term& term : terms_) {
      if ((bits & term.wanted) == term.wanted && (bits & term.unwanted) == 0) sum += term.weight;
    }
    return sum;
  }

  /// The same for a shell: parameter `pN` is 2 where change N is made, else 1.
  std::string expression() const {
    std::string text = "0";
    for (const Term& term : terms_) {
      text += " + " + std::to_string(term.weight) + " * (1";
      for (std::size_t change = 0; change < count_; ++change) {
        const std::size_t bit = std::size_t{1} << change;
        const std::string parameter = " && {param.p" + std::to_string(change) + "} == ";
        if ((term.wanted & bit) != 0) text += parameter + "2";
        if ((term.unwanted & bit) != 0) text += parameter + "1";
      }
      text += ")";
    }
    return text;
  }

 private:
  struct Term {
    std::size_t wanted = 0;    ///< all of these changes
    std::size_t unwanted = 0;  ///< and none of those
    int weight = 0;
  };

  std::size_t pick(std::size_t below) {
    return std::uniform_int_distribution<std::size_t>(0, below - 1)(random_);
  }
  std::size_t any() { return std::size_t{1} << pick(count_); }

  void add_cause() {
    const int weight = 1 << pick(2);
    const std::size_t change = any();
    switch (pick(4)) {
      case 0:
        terms_.push_back({change, 0, weight});
        break;
      case 1:
        terms_.push_back({change | any() | any(), 0, weight});
        break;
      case 2:
        terms_.push_back({change, any() & ~change, weight});
        break;
      default:
        terms_.push_back({change, 0, weight});
        terms_.push_back({any(), 0, -weight});
        break;
    }
  }

  std::size_t count_;
  std::mt19937& random_;
  std::vector<Term> terms_{};
};

/// Such that all changes together make a difference.
inline Losses searchable_losses(std::size_t count, std::mt19937& random) {
  for (;;) {
    Losses losses(count, random);
    if (losses.loss((std::size_t{1} << count) - 1) != 0) return losses;
  }
}

}  // namespace sabath::test
