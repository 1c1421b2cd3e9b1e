#include "check.h"
#include "h5_file.h"
#include "samples.h"
#include "surrogate.h"

#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <fstream>

using namespace kessler;
namespace fs = std::filesystem;

namespace {

// A folder that is removed with the test.
class Folder {
 public:
  Folder() {
    std::string name = (fs::temp_directory_path() / "kessler-XXXXXX").string();
    path_ = mkdtemp(name.data());
  }
  ~Folder() {
    std::error_code ignored;
    fs::remove_all(path_, ignored);
  }
  Folder(const Folder&) = delete;
  Folder& operator=(const Folder&) = delete;

  std::string operator/(const std::string& name) const { return (path_ / name).string(); }

 private:
  fs::path path_;
};

// A file with these arrays: [samples, 5, columns] and [samples, 4].
template <class Number>
void write_raw(const std::string& path,
               const std::vector<Dimension>& input_shape,
               const std::vector<Number>& inputs,
               std::size_t outputs,
               const std::string& units) {
  H5Writer file(path);
  file.write("inputs", input_shape, std::span<const Number>(inputs), units);
  const std::vector<float> values(outputs * output_count, 0.0F);
  std::vector<float> states = values;
  for (std::size_t i = 0; i < outputs; ++i)
    states[i * output_count] = 280;
  file.write("outputs",
             {{"outs", outputs}, {"num_vars_out", output_count}},
             std::span<const float>(states),
             "");
  const double time_step = 1;
  file.write("time_step_size", {}, std::span<const double>(&time_step, 1), "");
  file.commit();
}

std::vector<float> states(std::size_t count, std::size_t columns, float temperature) {
  std::vector<float> values(count * input_count * columns, 0.0F);
  for (std::size_t i = 0; i < count; ++i) {
    values[i * input_count * columns] = temperature;
    values[i * input_count * columns + columns] = 1;
  }
  return values;
}

void test_round_trip(const Folder& folder) {
  const Samples samples = generate_from_columns(600, 10, 1);
  write_samples(folder / "a.nc", samples);
  const Samples back = read_samples(folder / "a.nc", 1000);
  CHECK(back.inputs == samples.inputs);
  CHECK(back.outputs == samples.outputs);
  CHECK(back.time_step == 10);
  const Samples part = read_samples(folder / "a.nc", 250);
  CHECK(part.size() == 200);
  CHECK(std::memcmp(&part.inputs[10], &samples.inputs[30], 10 * sizeof(float)) == 0);
  write_samples(folder / "b.nc", samples);
  std::ifstream first(folder / "a.nc", std::ios::binary);
  std::ifstream second(folder / "b.nc", std::ios::binary);
  CHECK(std::equal(
      std::istreambuf_iterator<char>(first), {}, std::istreambuf_iterator<char>(second)));
}

void test_bad_files(const Folder& folder) {
  const auto read = [&folder](const char* name) { read_samples(folder / name, 1000); };
  CHECK_FAILS(read("none.nc"), "none.nc: no such file");
  std::ofstream(folder / "text.nc") << "time,temperature\n";
  CHECK_FAILS(read("text.nc"), "text.nc: is not an HDF5 file (expected HDF5 or NetCDF-4)");
  for (const double share : {0.99, 0.5, 0.05}) {
    fs::copy_file(folder / "a.nc", folder / "cut.nc", fs::copy_options::overwrite_existing);
    const auto size = static_cast<double>(fs::file_size(folder / "a.nc"));
    fs::resize_file(folder / "cut.nc", static_cast<std::uintmax_t>(share * size));
    CHECK_FAILS(read("cut.nc"), "cut.nc: is cut short or damaged (truncated file");
  }
  const std::vector<Dimension> good = {{"nsamples", 3}, {"num_vars_in", 5}, {"sten_size", 2}};
  write_raw(folder / "ok.nc", good, states(3, 2, 280), 3, "");
  read("ok.nc");
  write_raw(folder / "flat.nc", {{"nsamples", 3}, {"num_vars_in", 5}}, states(3, 1, 280), 3, "");
  CHECK_FAILS(read("flat.nc"),
              "flat.nc: array 'inputs' has the shape (3, 5), expected (samples, 5, 2)");
  write_raw(folder / "wide.nc",
            {{"nsamples", 3}, {"num_vars_in", 5}, {"sten_size", 3}},
            states(3, 3, 280),
            3,
            "");
  CHECK_FAILS(read("wide.nc"), "has the shape (3, 5, 3), expected (samples, 5, 2)");
  write_raw(folder / "fewer.nc", good, states(3, 2, 280), 2, "");
  CHECK_FAILS(read("fewer.nc"), "array 'outputs' has 2 samples, expected 3 as in 'inputs'");
  const std::vector<float> floats = states(3, 2, 280);
  write_raw(folder / "wrong.nc", good, std::vector<double>(floats.begin(), floats.end()), 3, "");
  CHECK_FAILS(read("wrong.nc"),
              "array 'inputs' has 64-bit floating point numbers, expected 32-bit floating point");
  write_raw(folder / "celsius.nc", good, states(3, 2, 7), 3, "");
  CHECK_FAILS(read("celsius.nc"),
              "array 'inputs', sample 0, variable 0: the temperature is 7, expected 150 to 350 K / "
              "is the temperature in degrees Celsius?");
  write_raw(folder / "units.nc", good, states(3, 2, 280), 3, "degC, g m-3, g m-3, g m-3, g m-3");
  CHECK_FAILS(read("units.nc"), "array 'inputs' has the units 'degC, g m-3");
  std::vector<float> broken = states(3, 2, 280);
  broken[10 + 4] = NAN;
  write_raw(folder / "nan.nc", good, broken, 3, "");
  CHECK_FAILS(read("nan.nc"), "sample 1, variable 2: the water density is nan");
  broken[10 + 4] = 12;
  write_raw(folder / "grams.nc", good, broken, 3, "");
  CHECK_FAILS(read("grams.nc"), "the water density is 12, expected -0.0001 to 0.1 kg m-3");
  {
    H5Writer file(folder / "empty.nc");
    file.write("outputs", 3);
    file.commit();
  }
  CHECK_FAILS(read("empty.nc"), "empty.nc: has no array 'inputs'");
  CHECK_FAILS(read_surrogate(folder / "ok.nc"), "ok.nc: has no array 'hidden/bias'");
}

}  // namespace

void test_files(const std::string& data) {
  const Folder folder;
  test_round_trip(folder);
  test_bad_files(folder);
  // Written by netCDF4 for Python in the way of upstream's writer: an unlimited dimension.
  const Samples samples = read_samples(data + "/netcdf4.nc", 1000);
  CHECK(samples.size() == 50);
  CHECK(samples.has_cell_above());
  CHECK(samples.time_step == 10);
  CHECK(samples.before(0).temperature > 200);
}
