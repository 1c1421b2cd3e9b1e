#pragma once

#include <stdint.h>

// y = out . tanh(in x + bias) + offset, trained with Adam (Kingma and Ba, ICLR 2015).
struct network {
  int inputs, hidden, weight_count;
  double *weights, *first_moment, *second_moment;
};

// Uniform in [0, 1); the state goes on (SplitMix64: Steele, Lea and Flood, OOPSLA 2014).
double random_uniform(uint64_t* state);
void shuffle(int* order, int count, uint64_t* state);

void network_start(struct network* network, int inputs, int hidden, uint64_t* random);
void network_end(struct network* network);
// `units` gets what the hidden units say where it is not null.
double network_predict(const struct network* network, const double* x, double* units);
// Adds the gradient of (prediction - y)^2 and returns its value.
double network_add_gradient(const struct network* network,
                            const double* x,
                            double y,
                            double* gradient);
// `step` counts from 1.
void network_step(struct network* network, const double* gradient, double rate, int step);
