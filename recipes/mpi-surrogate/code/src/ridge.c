#include "ridge.h"

#include <math.h>
#include <string.h>

static void features_of(const struct ridge* ridge, const double* x, double* features) {
  int at = 0;
  features[at++] = 1;
  for (int i = 0; i < ridge->inputs; ++i)
    features[at++] = x[i];
  for (int i = 0; i < ridge->inputs; ++i) {
    for (int j = i; j < ridge->inputs; ++j)
      features[at++] = x[i] * x[j];
  }
}

void ridge_start(struct ridge* ridge, int inputs) {
  memset(ridge, 0, sizeof *ridge);
  ridge->inputs = inputs;
  ridge->feature_count = 1 + inputs + inputs * (inputs + 1) / 2;
}

void ridge_add(struct ridge* ridge, const double* x, double y) {
  double features[most_features];
  features_of(ridge, x, features);
  const int n = ridge->feature_count;
  for (int i = 0; i < n; ++i) {
    for (int j = 0; j < n; ++j)
      ridge->sums[i * n + j] += features[i] * features[j];
    ridge->sums[n * n + i] += features[i] * y;
  }
}

int ridge_solve(struct ridge* ridge, double penalty) {
  const int n = ridge->feature_count;
  double lower[most_features][most_features];
  for (int i = 0; i < n; ++i) {
    for (int j = 0; j <= i; ++j) {
      double value = ridge->sums[i * n + j] + (i == j ? penalty : 0);
      for (int k = 0; k < j; ++k)
        value -= lower[i][k] * lower[j][k];
      if (i == j && !(value > 0)) return 1;
      lower[i][j] = i == j ? sqrt(value) : value / lower[j][j];
    }
  }
  double* w = ridge->weights;
  for (int i = 0; i < n; ++i) {
    w[i] = ridge->sums[n * n + i];
    for (int k = 0; k < i; ++k)
      w[i] -= lower[i][k] * w[k];
    w[i] /= lower[i][i];
  }
  for (int i = n - 1; i >= 0; --i) {
    for (int k = i + 1; k < n; ++k)
      w[i] -= lower[k][i] * w[k];
    w[i] /= lower[i][i];
  }
  return 0;
}

double ridge_predict(const struct ridge* ridge, const double* x) {
  double features[most_features];
  features_of(ridge, x, features);
  double y = 0;
  for (int i = 0; i < ridge->feature_count; ++i)
    y += ridge->weights[i] * features[i];
  return y;
}
