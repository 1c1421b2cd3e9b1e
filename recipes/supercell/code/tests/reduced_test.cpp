#include "reduced.h"

#include "error.h"
#include "h5_file.h"

#include <catch2/catch.hpp>

#include <cmath>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <sstream>
#include <string>

#include <unistd.h>

using namespace supercell;
namespace fs = std::filesystem;

namespace {

// A folder with one small truth, made once.
class Shared {
 public:
  Shared() {
    std::string name = (fs::temp_directory_path() / "supercell-XXXXXX").string();
    folder_ = mkdtemp(name.data());
    run("supercell-truth --cells 40 --out '" + path("truth.h5") + "'");
  }
  ~Shared() {
    std::error_code ignored;
    fs::remove_all(folder_, ignored);
  }
  Shared(const Shared&) = delete;
  Shared& operator=(const Shared&) = delete;

  std::string path(const std::string& name) const { return (folder_ / name).string(); }
  // The exit status is 0 or not; what went to stderr is `err`.
  bool run(const std::string& words) {
    const std::string command =
        "'" SUPERCELL_PROGRAMS "'/" + words + " >'" + path("out") + "' 2>'" + path("err") + "'";
    const int status = std::system(command.c_str());  // NOLINT(concurrency-mt-unsafe): one thread
    err = content("err");
    return status == 0;
  }
  std::string content(const std::string& name) const {
    std::ifstream file(path(name), std::ios::binary);
    std::ostringstream text;
    text << file.rdbuf();
    return text.str();
  }

  std::string err;

 private:
  fs::path folder_;
};

Shared& shared() {
  static Shared one;
  return one;
}

const Truth& truth() {
  static const Truth small = read_truth(shared().path("truth.h5"));
  return small;
}

// Mean error of theta' over the held-out bubbles.
double error_of(const ReducedOperator& surrogate) {
  double sum = 0;
  for (std::size_t t = truth().training; t < truth().states.size(); ++t) {
    const SlowState result = surrogate.forecast(truth().states[t].front(), forecast_steps);
    sum += relative_difference(theta_of(result), theta_of(truth().states[t].back()));
  }
  return sum / static_cast<double>(truth().final_theta.size());
}

double persistence() {
  double sum = 0;
  for (std::size_t t = truth().training; t < truth().states.size(); ++t)
    sum += relative_difference(theta_of(truth().states[t].front()),
                               theta_of(truth().states[t].back()));
  return sum / static_cast<double>(truth().final_theta.size());
}

}  // namespace

TEST_CASE("reduced: a shift by whole cells is exact, one by parts of a cell comes back") {
  const SlowState& state = truth().states[0].back();
  const SlowState moved = shifted(state, 7);
  for (std::size_t i = 0; i < slow_x; ++i)
    CHECK(moved[(i + 7) % slow_x + 45 * slow_x] == Approx(state[i + 45 * slow_x]).margin(1e-15));
  CHECK(relative_difference(shifted(shifted(state, 3.4), -3.4), state) < 0.01);
  CHECK(warm_column(shifted(state, 3.4)) == Approx(warm_column(state) + 3.4).margin(0.01));
}

TEST_CASE("reduced: the forecast moves with the bubble") {
  const ReducedOperator surrogate(truth(), Terms::quadratic, Targets::true_ones);
  const SlowState& initial = truth().states.back().front();
  const SlowState here = surrogate.forecast(initial, forecast_steps);
  const SlowState there = surrogate.forecast(shifted(initial, 11), forecast_steps);
  CHECK(relative_difference(there, shifted(here, 11)) < 1e-9);
}

TEST_CASE("reduced: held-out bubbles beat persistence, the linear operator and shuffled pairs") {
  const double error = error_of({truth(), Terms::quadratic, Targets::true_ones});
  const double linear = error_of({truth(), Terms::linear, Targets::true_ones});
  const double shuffled = error_of({truth(), Terms::quadratic, Targets::shuffled});
  INFO("surrogate " << error << ", linear " << linear << ", shuffled " << shuffled
                    << ", persistence " << persistence());
  CHECK(error < 0.03);
  CHECK(error < 0.1 * persistence());
  CHECK(error < 0.1 * linear);
  CHECK_FALSE(shuffled < 0.5 * persistence());  // it may be infinite
}

TEST_CASE("reduced: means over blocks keep the mean, the top lies between two rows") {
  const std::vector<double>& fine = truth().final_theta[0];
  const std::vector<double> rough = block_means(fine, 40, 8);
  double all = 0, few = 0;
  for (const double value : fine)
    all += value / static_cast<double>(fine.size());
  for (const double value : rough)
    few += value / static_cast<double>(rough.size());
  CHECK(few == Approx(all).epsilon(1e-12));
  // Four columns, three rows of 3200 m: 1 K below, 0 K above.
  CHECK(thermal_top({1, 1, 1, 1, 1, 1, 1, 1, 0, 0, 0, 0}, 4) == Approx(6400));
}

TEST_CASE("reduced: the same truth and forecast come again to the byte, with any threads") {
  Shared& at = shared();
  REQUIRE(at.run("supercell-truth --cells 40 --threads 2 --out '" + at.path("again.h5") + "'"));
  CHECK(at.content("truth.h5") == at.content("again.h5"));
  for (const std::string name : {"a", "b"}) {
    REQUIRE(at.run("supercell-forecast --repeats 1 --truth '" + at.path("truth.h5") +
                   "' --output '" + at.path(name) + "'"));
  }
  CHECK(at.content("a/forecast.h5").size() > 1000);
  CHECK(at.content("a/forecast.h5") == at.content("b/forecast.h5"));
}

TEST_CASE("reduced: a truth that is cut short, has another shape or a NaN is refused") {
  Shared& at = shared();
  const auto refused = [&](const std::string& name, const std::string& message) {
    CHECK_FALSE(at.run("supercell-forecast --truth '" + at.path(name) + "' --output '" +
                       at.path("o") + "'"));
    INFO(at.err);
    CHECK(at.err.find(message) != std::string::npos);
  };
  fs::copy_file(at.path("truth.h5"), at.path("short.h5"), fs::copy_options::overwrite_existing);
  fs::resize_file(at.path("short.h5"), 100000);
  refused("short.h5", "short.h5: cannot be read as HDF5");
  Truth other = truth();
  other.states.pop_back();
  write_truth(at.path("shape.h5"), other);
  refused("shape.h5", "data set 'states' has another shape");
  other = truth();
  other.states[3][2][100] = std::nan("");
  write_truth(at.path("nan.h5"), other);
  refused("nan.h5", "'states'");
  refused("none.h5", "no such file");
  CHECK_FALSE(at.run("supercell-truth --cells 50 --out '" + at.path("x.h5") + "'"));
  CHECK(at.err.find("--cells: '50' is not a multiple of 40") != std::string::npos);
}
