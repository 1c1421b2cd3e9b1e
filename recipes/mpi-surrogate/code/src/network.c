#include "network.h"

#include "program.h"

#include <math.h>
#include <stdlib.h>

double random_uniform(uint64_t* state) {
  uint64_t z = *state += 0x9e3779b97f4a7c15U;
  z = (z ^ (z >> 30U)) * 0xbf58476d1ce4e5b9U;
  z = (z ^ (z >> 27U)) * 0x94d049bb133111ebU;
  return (double)((z ^ (z >> 31U)) >> 11U) * 0x1p-53;
}

void shuffle(int* order, int count, uint64_t* state) {
  for (int i = count - 1; i > 0; --i) {
    const int other = (int)(random_uniform(state) * (i + 1));
    const int kept = order[i];
    order[i] = order[other];
    order[other] = kept;
  }
}

// In the weights: for each unit its inputs and its bias, then what goes out of the units, the
// offset.
static int unit_at(const struct network* network, int unit) {
  return unit * (network->inputs + 1);
}
static int out_at(const struct network* network) {
  return unit_at(network, network->hidden);
}

void network_start(struct network* network, int inputs, int hidden, uint64_t* random) {
  network->inputs = inputs;
  network->hidden = hidden;
  network->weight_count = hidden * (inputs + 2) + 1;
  const size_t count = (size_t)network->weight_count;
  network->weights = allocate(count, sizeof(double));
  network->first_moment = allocate(count, sizeof(double));
  network->second_moment = allocate(count, sizeof(double));
  const double in = sqrt(3.0 / inputs);
  const double out = sqrt(3.0 / hidden);
  for (int i = 0; i + 1 < network->weight_count; ++i)
    network->weights[i] = (i < out_at(network) ? in : out) * (2 * random_uniform(random) - 1);
}

void network_end(struct network* network) {
  free(network->weights);
  free(network->first_moment);
  free(network->second_moment);
}

double network_predict(const struct network* network, const double* x, double* units) {
  const double* out = network->weights + out_at(network);
  double y = out[network->hidden];
  for (int unit = 0; unit < network->hidden; ++unit) {
    const double* in = network->weights + unit_at(network, unit);
    double sum = in[network->inputs];
    for (int i = 0; i < network->inputs; ++i)
      sum += in[i] * x[i];
    const double value = tanh(sum);
    if (units != NULL) units[unit] = value;
    y += out[unit] * value;
  }
  return y;
}

double network_add_gradient(const struct network* network,
                            const double* x,
                            double y,
                            double* gradient) {
  double units[4096];
  const double error = network_predict(network, x, units) - y;
  const int at = out_at(network);
  for (int unit = 0; unit < network->hidden; ++unit) {
    gradient[at + unit] += 2 * error * units[unit];
    const double back = 2 * error * network->weights[at + unit] * (1 - units[unit] * units[unit]);
    double* in = gradient + unit_at(network, unit);
    for (int i = 0; i < network->inputs; ++i)
      in[i] += back * x[i];
    in[network->inputs] += back;
  }
  gradient[at + network->hidden] += 2 * error;
  return error * error;
}

void network_step(struct network* network, const double* gradient, double rate, int step) {
  const double keep_first = 0.9;
  const double keep_second = 0.999;
  const double first_scale = 1 / (1 - pow(keep_first, step));
  const double second_scale = 1 / (1 - pow(keep_second, step));
  for (int i = 0; i < network->weight_count; ++i) {
    double* first = &network->first_moment[i];
    double* second = &network->second_moment[i];
    *first = keep_first * *first + (1 - keep_first) * gradient[i];
    *second = keep_second * *second + (1 - keep_second) * gradient[i] * gradient[i];
    network->weights[i] -= rate * *first * first_scale / (sqrt(*second * second_scale) + 1e-8);
  }
}
