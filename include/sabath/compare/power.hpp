#pragma once

namespace sabath::compare {

/// How likely TOST, with the degrees of freedom of Welch and Satterthwaite, finds two groups of
/// `runs` each equivalent for a margin of so many standard deviations, where both are of normal
/// values with one mean and one standard deviation: the power at zero true difference. 0 for fewer
/// than two runs.
double equivalence_power(int runs, double margin_in_sigma, double alpha = 0.05);

}  // namespace sabath::compare
