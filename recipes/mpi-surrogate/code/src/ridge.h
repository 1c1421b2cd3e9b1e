#pragma once

// Least squares with all products of two inputs as features, and a penalty on large weights: what a
// network must beat to be worth its name.
enum {
  most_inputs = 8,
  most_features = 1 + most_inputs + most_inputs * (most_inputs + 1) / 2,
  ridge_sum_count = most_features * (most_features + 1)
};

struct ridge {
  int inputs, feature_count;
  double sums[ridge_sum_count];  // of products of features, then of features with targets
  double weights[most_features];
};

void ridge_start(struct ridge* ridge, int inputs);
void ridge_add(struct ridge* ridge, const double* x, double y);
// Returns 1 where the equations are singular.
int ridge_solve(struct ridge* ridge, double penalty);
double ridge_predict(const struct ridge* ridge, const double* x);
