#include "command_line.h"
#include "error.h"
#include "samples.h"

#include <cstdio>

namespace kessler {
namespace {

struct Options {
  std::string from = "generated";
  std::string file = "none";
  std::string states = "columns";
  std::string out;
  int samples = 60000;
  double time_step = 10;
  std::uint64_t seed = 1;
};

bool read_options(int count, const char* const* words, Options& options) {
  CommandLine line("kessler-data",
                   "Writes states of cells before and after the warm-rain scheme: generated ones, "
                   "or those of a file of miniWeatherML after a check.");
  line.choice("from", options.from, {"generated", "file"}, "where the samples come from");
  line.choice(
      "states", options.states, {"columns", "cells"}, "generated: of columns, or random cells");
  line.text("file", options.file, "file of miniWeatherML, with --from file");
  line.required("out", options.out, "file to write");
  line.integer("samples", options.samples, 143, "number of samples, the most of a file");
  line.positive("time-step", options.time_step, "step of the scheme in s; a file has its own");
  line.seed("seed", options.seed, "of the generated cells");
  return line.parse(count, words);
}

int run(const Options& options) {
  Samples samples;
  const auto count = static_cast<std::size_t>(options.samples);
  if (options.from == "file") {
    if (options.file == "none") {
      throw UsageError("--file is required with --from file",
                       "sabath run kessler --set data=file --set file=/path/to/data.nc");
    }
    samples = read_samples(options.file, count);
  } else if (options.states == "columns") {
    samples = generate_from_columns(count, options.time_step, options.seed);
  } else {
    samples = generate(count, options.time_step, options.seed);
  }
  if (samples.has_cell_above()) {
    std::printf("note: the second column of 'inputs' (the cell above) is not used\n");
  }
  write_samples(options.out, samples);
  std::size_t active = 0;
  for (std::size_t i = 0; i < samples.size(); ++i)
    active += samples.is_active(i) ? 1 : 0;
  std::printf(
      "%zu samples, %zu of them active, step %g s\n", samples.size(), active, samples.time_step);
  return 0;
}

}  // namespace
}  // namespace kessler

int main(int count, char** words) {
  return kessler::guarded_main("kessler-data", [&] {
    kessler::Options options;
    return kessler::read_options(count, words, options) ? kessler::run(options) : 0;
  });
}
