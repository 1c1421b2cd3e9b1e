// The network and the fit on one rank, against what can be worked out by hand.
#include "network.h"

#include "cases.h"
#include "check.h"
#include "program.h"
#include "ridge.h"

#include <math.h>
#include <mpi.h>

int failures = 0;

static void gradient_is_that_of_the_loss(void) {
  uint64_t random = 7;
  struct network network;
  network_start(&network, 3, 5, &random);
  const double x[] = {0.3, -0.8, 0.5};
  double gradient[64] = {0};
  double ignored[64] = {0};
  network_add_gradient(&network, x, 0.7, gradient);
  for (int i = 0; i < network.weight_count; ++i) {
    const double kept = network.weights[i];
    const double small = 1e-6;
    network.weights[i] = kept + small;
    const double above = network_add_gradient(&network, x, 0.7, ignored);
    network.weights[i] = kept - small;
    const double below = network_add_gradient(&network, x, 0.7, ignored);
    network.weights[i] = kept;
    CHECK(
        fabs((above - below) / (2 * small) - gradient[i]) < 1e-8, "weight %d: %g", i, gradient[i]);
  }
  network_end(&network);
}

static void fit_finds_a_quadratic(void) {
  static struct ridge ridge;
  ridge_start(&ridge, stirring_inputs);
  double x[stirring_inputs];
  for (int i = 0; i < 64; ++i) {
    const struct stirring_case one = stirring_case_number(i);
    stirring_inputs_of(&one, x);
    ridge_add(&ridge, x, 2 - x[0] + 3 * x[1] * x[2] + 0.5 * x[4] * x[4]);
  }
  CHECK(ridge_solve(&ridge, 1e-12) == 0, "singular");
  const double at[stirring_inputs] = {0.1, 0.2, -0.3, 0.4, -0.5};
  const double expected = 2 - 0.1 - 3 * 0.2 * 0.3 + 0.5 * 0.25;
  CHECK(fabs(ridge_predict(&ridge, at) - expected) < 1e-8, "%g", ridge_predict(&ridge, at));
  ridge_start(&ridge, stirring_inputs);
  CHECK(ridge_solve(&ridge, 0) == 1, "nothing was added");
}

static void cases_lie_where_they_may(void) {
  double sums[stirring_inputs] = {0};
  for (int i = 0; i < 1000; ++i) {
    const struct stirring_case one = stirring_case_number(i);
    CHECK(one.strength >= 0 && one.strength <= STIRRING_MOST_STRENGTH, "case %d", i);
    CHECK(one.diffusivity >= 1e-3 && one.diffusivity <= STIRRING_MOST_DIFFUSIVITY * (1 + 1e-12),
          "case %d",
          i);
    double x[stirring_inputs];
    stirring_inputs_of(&one, x);
    for (int k = 0; k < stirring_inputs; ++k) {
      CHECK(fabs(x[k]) <= 1 + 1e-12, "case %d, input %d: %g", i, k, x[k]);
      sums[k] += x[k];
    }
  }
  for (int k = 0; k < stirring_inputs; ++k)
    CHECK(fabs(sums[k]) < 20, "input %d lies to one side: %g", k, sums[k] / 1000);
}

int main(int count, char** words) {
  MPI_Init(&count, &words);
  gradient_is_that_of_the_loss();
  fit_finds_a_quadratic();
  cases_lie_where_they_may();
  MPI_Finalize();
  return failures == 0 ? 0 : 1;
}
