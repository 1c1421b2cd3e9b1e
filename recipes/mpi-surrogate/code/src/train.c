// Trains a small network to tell how well a tracer is mixed without simulating it. Data-parallel:
// each rank has its share of every batch, and gradients are summed over all ranks.
#include "network.h"
#include "program.h"
#include "ridge.h"

#include <math.h>
#include <mpi.h>
#include <stdlib.h>
#include <string.h>

struct training {
  const char *data, *output;
  int epochs, batch, hidden, seed;
  double learning_rate;
};

struct data {
  int inputs, train, validate;  // the last quarter of the cases is for validation
  double* x;
  double* y;  // normalised over the cases to train on
  double mean, deviation;
};

// Rank 0 reads, the others get it.
static struct data load(const char* path, int rank) {
  struct table x = {.name = "inputs", .rank = 2};
  struct table y = {.name = "mixing", .rank = 1};
  int sizes[2] = {0, 0};
  if (rank == 0) {
    read_table(path, &x);
    read_table(path, &y);
    sizes[0] = x.sizes[0];
    sizes[1] = x.sizes[1];
    if (y.sizes[0] != sizes[0] || sizes[0] < 16 || sizes[1] > most_inputs) {
      fail(1, "%s: shapes do not fit", path);
    }
  }
  MPI_Bcast(sizes, 2, MPI_INT, 0, MPI_COMM_WORLD);
  const int total = sizes[0] * sizes[1];
  if (rank != 0) {
    x.values = allocate((size_t)total, sizeof(double));
    y.values = allocate((size_t)sizes[0], sizeof(double));
  }
  MPI_Bcast(x.values, total, MPI_DOUBLE, 0, MPI_COMM_WORLD);
  MPI_Bcast(y.values, sizes[0], MPI_DOUBLE, 0, MPI_COMM_WORLD);

  struct data data = {.inputs = sizes[1], .validate = sizes[0] / 4, .x = x.values, .y = y.values};
  data.train = sizes[0] - data.validate;
  for (int i = 0; i < data.train; ++i)
    data.mean += data.y[i] / data.train;
  for (int i = 0; i < data.train; ++i)
    data.deviation += (data.y[i] - data.mean) * (data.y[i] - data.mean) / data.train;
  data.deviation = sqrt(data.deviation);
  if (!(data.deviation > 0)) fail(1, "%s: all cases are mixed alike", path);
  for (int i = 0; i < sizes[0]; ++i)
    data.y[i] = (data.y[i] - data.mean) / data.deviation;
  return data;
}

// The part of `count` things that this rank has: [first, last).
static void share(int count, int* first, int* last) {
  int rank = 0;
  int ranks = 1;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &ranks);
  *first = (int)((long)count * rank / ranks);
  *last = (int)((long)count * (rank + 1) / ranks);
}

typedef double (*predictor)(const void* model, const double* x);

// Root of the mean square over the cases for validation, all of which every rank has.
static double validation_error(const struct data* data,
                               predictor predict,
                               const void* model,
                               double* out) {
  double sum = 0;
  for (int i = 0; i < data->validate; ++i) {
    const int at = data->train + i;
    out[i] = predict(model, data->x + (size_t)at * (size_t)data->inputs);
    sum += (out[i] - data->y[at]) * (out[i] - data->y[at]);
  }
  return sqrt(sum / data->validate);
}

static double predict_network(const void* model, const double* x) {
  return network_predict(model, x, NULL);
}
static double predict_ridge(const void* model, const double* x) {
  return ridge_predict(model, x);
}
static double predict_mean(const void* model, const double* x) {
  (void)model;
  (void)x;
  return 0;
}

static double train_ridge(const struct data* data, struct ridge* ridge, double* out) {
  ridge_start(ridge, data->inputs);
  int first = 0;
  int last = 0;
  share(data->train, &first, &last);
  for (int i = first; i < last; ++i)
    ridge_add(ridge, data->x + (size_t)i * (size_t)data->inputs, data->y[i]);
  MPI_Allreduce(MPI_IN_PLACE, ridge->sums, ridge_sum_count, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
  if (ridge_solve(ridge, 1e-6 * data->train) != 0) fail(1, "the normal equations cannot be solved");
  return validation_error(data, predict_ridge, ridge, out);
}

// One pass over the cases, in the order of `order`. Returns the mean loss.
static double train_epoch(const struct data* data,
                          const struct training* options,
                          const int* order,
                          struct network* network,
                          double* gradient,
                          int epoch,
                          int* step) {
  double loss = 0;
  for (int begin = 0; begin < data->train; begin += options->batch) {
    const int count = data->train - begin < options->batch ? data->train - begin : options->batch;
    int first = 0;
    int last = 0;
    share(count, &first, &last);
    // Behind the gradient goes the loss, so that one message has both.
    memset(gradient, 0, ((size_t)network->weight_count + 1) * sizeof(double));
    for (int i = first; i < last; ++i) {
      const int at = order[begin + i];
      gradient[network->weight_count] += network_add_gradient(
          network, data->x + (size_t)at * (size_t)data->inputs, data->y[at], gradient);
    }
    MPI_Allreduce(
        MPI_IN_PLACE, gradient, network->weight_count + 1, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
    loss += gradient[network->weight_count] / data->train;
    for (int i = 0; i < network->weight_count; ++i)
      gradient[i] /= count;
    // To a twentieth at the end.
    const double rate = options->learning_rate * pow(0.05, (double)epoch / options->epochs);
    network_step(network, gradient, rate, ++*step);
  }
  return loss;
}

static void write_results(const struct training* options,
                          const struct data* data,
                          const struct network* network,
                          const struct ridge* ridge,
                          double* predicted) {
  char path[4096];
  double scale[2] = {data->mean, data->deviation};
  const struct table weights[] = {{"network", 1, {network->weight_count}, network->weights},
                                  {"ridge", 1, {ridge->feature_count}, (double*)ridge->weights},
                                  {"scale", 1, {2}, scale},
                                  {.name = NULL}};
  if (snprintf(path, sizeof path, "%s/weights.h5", options->output) >= (int)sizeof path)
    fail(1, "path too long");
  write_tables(path, weights);
  for (int i = 0; i < data->validate; ++i)
    predicted[i] = predicted[i] * data->deviation + data->mean;
  const struct table predictions[] = {{"mixing", 1, {data->validate}, predicted}, {.name = NULL}};
  snprintf(path, sizeof path, "%s/predictions.h5", options->output);
  write_tables(path, predictions);
}

static void run(const struct training* options) {
  int rank = 0;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  if (rank == 0) open_metrics();
  struct data data = load(options->data, rank);
  double* predicted = allocate((size_t)data.validate, sizeof(double));
  struct ridge ridge;
  const double ridge_error = train_ridge(&data, &ridge, predicted);
  const double mean_error = validation_error(&data, predict_mean, NULL, predicted);

  uint64_t random = (uint64_t)options->seed;
  struct network network;
  network_start(&network, data.inputs, options->hidden, &random);
  double* gradient = allocate((size_t)network.weight_count + 1, sizeof(double));
  int* order = allocate((size_t)data.train, sizeof(int));
  for (int i = 0; i < data.train; ++i)
    order[i] = i;
  int step = 0;
  double error = 0;
  for (int epoch = 0; epoch < options->epochs; ++epoch) {
    const double start = MPI_Wtime();
    shuffle(order, data.train, &random);
    const double loss = train_epoch(&data, options, order, &network, gradient, epoch, &step);
    const double wall = MPI_Wtime() - start;
    if (!isfinite(loss)) fail(1, "the loss of epoch %d is not finite", epoch + 1);
    error = validation_error(&data, predict_network, &network, predicted);
    if (rank == 0) {
      const sabath_log_value values[] = {sabath_log_real("loss", loss),
                                         sabath_log_real("validation_error", error),
                                         sabath_log_real("epoch_time", wall)};
      report_metrics(values, 3, step, epoch + 1);
    }
  }
  if (rank == 0) {
    const sabath_log_value values[] = {sabath_log_real("surrogate_error", error),
                                       sabath_log_real("ridge_error", ridge_error),
                                       sabath_log_real("mean_error", mean_error)};
    report_metrics(values, 3, SABATH_LOG_NONE, SABATH_LOG_NONE);
    write_results(options, &data, &network, &ridge, predicted);
    printf("error of the network %.3f, of the quadratic fit %.3f, of the mean %.3f\n",
           error,
           ridge_error,
           mean_error);
  }
  network_end(&network);
  free(gradient);
  free(order);
  free(predicted);
  free(data.x);
  free(data.y);
}

int main(int count, char** words) {
  struct training training = {
      .epochs = 200, .batch = 32, .hidden = 32, .seed = 1, .learning_rate = 0.02};
  const struct option_word options[] = {
      {.name = "data", .text = &training.data, .help = "what stirring-simulate wrote"},
      {.name = "output",
       .text = &training.output,
       .help = "folder for weights.h5 and predictions.h5"},
      {.name = "epochs",
       .whole = &training.epochs,
       .least = 1,
       .most = 1000000,
       .help = "passes over the cases"},
      {.name = "batch",
       .whole = &training.batch,
       .least = 1,
       .most = 1 << 20,
       .help = "cases for each step"},
      {.name = "hidden",
       .whole = &training.hidden,
       .least = 1,
       .most = 4096,
       .help = "units of the network"},
      {.name = "learning-rate", .real = &training.learning_rate, .help = "of Adam"},
      {.name = "seed",
       .whole = &training.seed,
       .least = 0,
       .most = 2147483647,
       .help = "of weights and order"},
      {.name = NULL}};
  MPI_Init(&count, &words);
  if (read_options("stirring-train", count, words, options)) run(&training);
  MPI_Finalize();
  return 0;
}
