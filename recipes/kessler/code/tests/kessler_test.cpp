#include "check.h"
#include "column.h"
#include "error.h"
#include "trainer.h"

#include <algorithm>
#include <cmath>
#include <cstring>

using namespace kessler;

std::string check::failure_of(const std::function<void()>& work) {
  try {
    work();
  } catch (const Error& error) {
    return std::string(error.what()) + " / " + error.hint();
  }
  return {};
}

namespace {

bool near(double a, double b, double relative) {
  return std::abs(a - b) <= relative * std::max(std::abs(a), std::abs(b));
}

bool same_bits(std::span<const double> a, std::span<const double> b) {
  return a.size() == b.size() && std::memcmp(a.data(), b.data(), a.size_bytes()) == 0;
}

// A cell at 1000 hPa and 290 K with this relative humidity and these ratios in kg kg-1.
Cell cell_of(double humidity, double cloud, double rain) {
  const double vapour = humidity * saturation(290, 1e5);
  const double dry = 1e5 / (290 * (air::gas_constant + vapour * air::vapour_constant));
  return {290, dry, dry * vapour, dry * cloud, dry * rain};
}

void test_conservation() {
  for (const double time_step : {0.7, 10.0, 300.0}) {
    double water = 0;
    double heat = 0;
    double least = 0;
    double over = 0;
    for (std::uint64_t i = 0; i < 30000; ++i) {
      Random random(7, i);
      const Cell before = random_cell(random);
      Cell after = before;
      step_cell(after, time_step);
      water = std::max(water, std::abs(after.water() / before.water() - 1.0));
      heat = std::max(heat, std::abs(enthalpy(after) / enthalpy(before) - 1.0));
      least = std::min({least, after.vapour, after.cloud, after.rain});
      const double limit = saturation(after.temperature, pressure(before));
      over = std::max(over, after.vapour / after.dry / limit - 1.0);
    }
    std::printf("step %g s: water %.1e, enthalpy %.1e, above saturation %.1e\n",
                time_step,
                water,
                heat,
                over);
    CHECK(water < 1e-10);
    CHECK(heat < 1e-10);
    CHECK(least >= 0);
    CHECK(over < 1e-12);
  }
}

void test_saturation() {
  CHECK(near(saturation(273, 1e5), 3.8e-3, 1e-12));
  // A supersaturated cell: the rest above saturation vanishes within two steps.
  Cell cell = cell_of(1.3, 0, 0);
  const double constant = pressure(cell);
  step_cell(cell, 1);
  CHECK(cell.vapour / cell.dry <= saturation(cell.temperature, constant));
  step_cell(cell, 1);
  CHECK(near(cell.vapour / cell.dry, saturation(cell.temperature, pressure(cell)), 1e-3));
  // Cloud evaporates in dry air before rain does, and vapour stays below saturation.
  Cell dry_cell = cell_of(0.5, 1e-4, 1e-3);
  const double rain = dry_cell.rain;
  step_cell(dry_cell, 1);
  CHECK(dry_cell.cloud == 0);
  CHECK(dry_cell.rain < rain);
  CHECK(dry_cell.temperature < 290);
  // Dry air without cloud and rain does not change at all.
  const Cell idle = cell_of(0.5, 0, 0);
  Cell unchanged = idle;
  step_cell(unchanged, 10);
  CHECK(std::memcmp(&idle.cloud, &unchanged.cloud, 2 * sizeof(double)) == 0);
  CHECK(near(unchanged.vapour, idle.vapour, 1e-15));
  CHECK(near(unchanged.temperature, idle.temperature, 1e-15));
}

void test_rates() {
  // Below the threshold and without rain nothing turns to rain.
  Cell thin = cell_of(1, 0.9e-3, 0);
  step_cell(thin, 10);
  CHECK(thin.rain == 0);
  // Autoconversion: 1e-3 s-1 of what is above 1e-3.
  Cell thick = cell_of(1, 3e-3, 0);
  step_cell(thick, 10);
  CHECK(near(thick.rain / thick.dry, 10 * 1e-3 * 2e-3, 1e-10));
  // Accretion, implicit: cloud / (1 + 2.2 dt rain^0.875).
  Cell wet = cell_of(1, 0.5e-3, 2e-3);
  step_cell(wet, 10);
  const double swept = 1.0 + 10 * 2.2 * std::pow(2e-3, 0.875);
  CHECK(near(wet.rain / wet.dry, 2e-3 + 0.5e-3 * (1.0 - 1.0 / swept), 1e-10));
  // Evaporation of rain, by the law in other units.
  Cell falling = cell_of(0.6, 0, 1e-3);
  const double content = 1e-3 * falling.rain;
  const double limit = saturation(290, 1e5);
  const double rate = 0.4 * (1.6 + 124.9 * std::pow(content, 0.2046)) * std::pow(content, 0.525) /
                      (5.4e5 + 2.55e6 / (1000 * limit)) / (1e-3 * falling.dry);
  const double before = falling.rain / falling.dry;
  step_cell(falling, 2);
  CHECK(near(before - falling.rain / falling.dry, 2 * rate, 1e-6));
  CHECK(rate > 1e-7 && rate < 1e-5);
  // Rain of 1 g m-3 at the ground falls with 5.5 m s-1, and faster in thin air.
  Cell drop = cell_of(1, 0, 0);
  drop.dry = air::surface_density;
  drop.rain = 1e-3;
  CHECK(near(fall_speed(drop), 5.52, 1e-3));
  drop.dry /= 4;
  CHECK(near(fall_speed(drop), 2 * 5.52, 1e-3));
  // Half steps approach the same state: the scheme is of first order in time.
  const auto after = [](int steps) {
    Cell cell = cell_of(1.02, 2e-3, 1e-3);
    for (int step = 0; step < steps; ++step)
      step_cell(cell, 40.0 / steps);
    return cell.rain;
  };
  const double exact = after(4096);
  const double ratio = (after(8) - exact) / (after(16) - exact);
  CHECK(ratio > 1.7 && ratio < 2.3);
}

void test_column() {
  ColumnSettings settings;
  Column column(settings);
  const double water = column.water();
  const double heat = column.heat();
  double least = 0;
  for (int step = 0; step < 240; ++step) {
    column.step([&settings](Cell& cell) { step_cell(cell, settings.time_step); });
    least = std::min(least, column.least_density());
  }
  CHECK(near(column.water(), water, 1e-12));
  CHECK(near(column.heat(), heat, 1e-12));
  CHECK(least >= 0);
  CHECK(column.fallen > 1);
  std::printf("column: %.2f kg m-2 of rain at the ground\n", column.fallen);
  // Without a scheme nothing condenses, and without rain nothing falls.
  Column idle(settings);
  for (int step = 0; step < 240; ++step)
    idle.step([](Cell&) {});
  CHECK(idle.fallen == 0);
  CHECK(near(idle.water(), water, 1e-12));
  // Steps longer than a drop needs for one cell are divided.
  settings.time_step = 60;
  Column coarse(settings);
  for (int step = 0; step < 40; ++step)
    coarse.step([&settings](Cell& cell) { step_cell(cell, settings.time_step); });
  CHECK(near(coarse.water(), water, 1e-12));
  CHECK(coarse.least_density() >= 0);
}

void test_generator() {
  const Samples samples = generate(4000, 10, 3);
  std::size_t active = 0;
  for (std::size_t i = 0; i < samples.size(); ++i)
    active += samples.is_active(i) ? 1 : 0;
  CHECK(active > 1850 && active < 2150);
  CHECK(!samples.has_cell_above());
  const Samples fewer = generate(1000, 10, 3);
  CHECK(std::equal(fewer.inputs.begin(), fewer.inputs.end(), samples.inputs.begin()));
  CHECK(generate(1000, 10, 4).inputs != fewer.inputs);
  CHECK(generate(1000, 10, 3).outputs == fewer.outputs);
  // In 32 bits, too, water is conserved to rounding and nothing is negative.
  for (std::size_t i = 0; i < samples.size(); ++i) {
    const Change change = samples.change(i);
    const double water = samples.before(i).water();
    CHECK(std::abs(change[1] + change[2] + change[3]) <= 2e-7 * water);
    CHECK(*std::min_element(samples.outputs.begin(), samples.outputs.end()) >= 0);
    if (i > 200) break;
  }
  const Samples columns = generate_from_columns(4000, 10, 3);
  CHECK(columns.size() == 4000);
  CHECK(columns.has_cell_above());
  active = 0;
  for (std::size_t i = 0; i < columns.size(); ++i)
    active += columns.is_active(i) ? 1 : 0;
  CHECK(active > 1600 && active < 2400);
  // Upstream's second column leaves out the dry density and ends with a zero.
  CHECK(columns.inputs[3] < 0.1F && columns.inputs[1] > 200 && columns.inputs[9] == 0);
}

void test_network() {
  CHECK(Network(10).parameters().size() == 104);
  CHECK(Network(32).parameters().size() == 324);
  Network network(10);
  network.draw(5);
  const double input[] = {0.3, -0.7, 1.1, 0.2, -1.4};
  const double target[] = {0.1, 0.5, -0.3, 0.9};
  std::vector<double> gradient(104);
  const double loss = network.add_gradient(input, target, gradient);
  Change output{};
  network.apply(input, output.data());
  double sum = 0;
  for (std::size_t o = 0; o < output_count; ++o)
    sum += (output[o] - target[o]) * (output[o] - target[o]) / 4;
  CHECK(near(sum, loss, 1e-13));
  std::vector<double> unused(104);
  for (std::size_t i = 0; i < 104; ++i) {
    constexpr double step = 1e-6;
    double& weight = network.parameters()[i];
    const double kept = weight;
    weight = kept + step;
    const double up = network.add_gradient(input, target, unused);
    weight = kept - step;
    const double down = network.add_gradient(input, target, unused);
    weight = kept;
    CHECK(std::abs((up - down) / (2 * step) - gradient[i]) < 1e-8);
  }
}

const TrainingObserver silent = {[](const StepReport&) {}, [](const EpochReport&) {}};

Scores held_out(const Samples& samples, const Surrogate& surrogate) {
  const Split split(samples.size());
  return score(samples, split.held_out, split.end, [&surrogate](const Cell& cell) {
    return surrogate.network_change(cell);
  });
}

void test_training() {
  const Samples samples = generate(20000, 10, 1);
  TrainingOptions options;
  options.epochs = 25;
  options.batch = 128;
  const Surrogate first = train(samples, options, silent);
  const Surrogate again = train(samples, options, silent);
  CHECK(same_bits(first.network.parameters(), again.network.parameters()));
  options.seed = 2;
  const Surrogate other = train(samples, options, silent);
  CHECK(!same_bits(first.network.parameters(), other.network.parameters()));

  const Split split(samples.size());
  const Scores linear = score(samples, split.held_out, split.end, [&first](const Cell& cell) {
    return first.linear_change(cell);
  });
  const Scores still =
      score(samples, split.held_out, split.end, [](const Cell&) { return Change{}; });
  for (const Surrogate* surrogate : {&first, &other}) {
    const Scores scores = held_out(samples, *surrogate);
    for (std::size_t o = 0; o < output_count; ++o) {
      CHECK(scores.skill[o] > 0.7);
      CHECK(scores.skill[o] > linear.skill[o] + 0.2);
      CHECK(still.skill[o] == 0);
    }
  }
  options.shuffled_labels = true;
  const Scores shuffled = held_out(samples, train(samples, options, silent));
  for (std::size_t o = 0; o < output_count; ++o)
    CHECK(shuffled.skill[o] < 0.1);
  std::printf("shuffled labels: skill %.3f %.3f %.3f %.3f\n",
              shuffled.skill[0],
              shuffled.skill[1],
              shuffled.skill[2],
              shuffled.skill[3]);

  options.shuffled_labels = false;
  options.learning_rate = 1e200;
  CHECK_FAILS(train(samples, options, silent), "the loss is not finite at step 2 (epoch 1)");
  // A linear law is found exactly by least squares.
  Samples plain = samples;
  for (std::size_t i = 0; i < plain.size(); ++i) {
    const Cell cell = plain.before(i);
    float* output = plain.outputs.data() + i * output_count;
    output[0] = static_cast<float>(cell.temperature + 5 * (cell.temperature - 260) / 40);
    output[1] = static_cast<float>(0.9 * cell.vapour + 1e-3);
    output[2] = static_cast<float>(cell.cloud + 0.1 * cell.rain);
    output[3] = static_cast<float>(0.9 * cell.rain + 1e-4 * cell.dry);
  }
  options = {};
  options.epochs = 1;
  const Surrogate fitted = train(plain, options, silent);
  const Scores exact = score(plain, split.held_out, split.end, [&fitted](const Cell& cell) {
    return fitted.linear_change(cell);
  });
  for (std::size_t o = 0; o < output_count; ++o)
    CHECK(exact.skill[o] > 1 - 1e-6);
}

void test_correction() {
  for (std::uint64_t i = 0; i < 2000; ++i) {
    Random random(11, i);
    const Cell before = random_cell(random);
    Cell after = before;
    // Changes far beyond what the scheme can do.
    add_conserving(
        after,
        {random.normal(), 0.01 * random.normal(), 0.01 * random.normal(), 0.01 * random.normal()});
    CHECK(near(after.water(), before.water(), 1e-14));
    CHECK(near(enthalpy(after), enthalpy(before), 1e-14));
    CHECK(std::min({after.vapour, after.cloud, after.rain}) >= 0);
  }
}

}  // namespace

int main(int count, char** words) {
  if (count != 2) {
    std::printf("usage: kessler-test FOLDER (tests/data of the recipe)\n");
    return 2;
  }
  test_conservation();
  test_saturation();
  test_rates();
  test_column();
  test_generator();
  test_network();
  test_training();
  test_correction();
  test_files(words[1]);
  std::printf(check::failures == 0 ? "all checks hold\n" : "%d checks failed\n", check::failures);
  return check::failures == 0 ? 0 : 1;
}
