// Not run by default: test_cache "[measure]" prints what partial costs beside what it cannot do
// without. SABATH_MEASURE names the folder, SABATH_MEASURE_MIB the size of the large file.
#include "cache_home.hpp"

#include <catch2/catch.hpp>

#include <chrono>
#include <cstdlib>
#include <iostream>
#include <random>

using namespace sabath;
using base::as_bytes;

namespace fs = std::filesystem;

namespace {

template <class Work>
double seconds(Work&& work) {
  const auto begin = std::chrono::steady_clock::now();
  work();
  return std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
}

std::string random_block(std::size_t bytes) {
  std::mt19937_64 random(1);
  std::string block(bytes, '\0');
  for (std::size_t i = 0; i + 8 <= bytes; i += 8) {
    const auto number = random();
    block.replace(i, 8, reinterpret_cast<const char*>(&number), 8);
  }
  return block;
}

fs::path measure_folder() {
  const char* folder = std::getenv("SABATH_MEASURE");
  return folder == nullptr ? fs::temp_directory_path() : fs::path(folder);
}

}  // namespace

TEST_CASE("measure: a large file, its parts alone and staged", "[.][measure]") {
  const char* const size = std::getenv("SABATH_MEASURE_MIB");
  const std::uint64_t blocks = 2 * (size == nullptr ? 2048 : std::stoul(size));
  const std::string block = random_block(512U << 10U);
  const base::TempDir folder(measure_folder(), "measure-");
  const double write = seconds([&] {
    const base::UniqueFd fd(
        ::open((folder.path() / "plain").c_str(), O_WRONLY | O_CREAT | O_CLOEXEC, 0600));
    for (std::uint64_t i = 0; i < blocks; ++i)
      base::write_all(fd.get(), as_bytes(block), "plain");
  });
  fs::remove(folder.path() / "plain");
  base::Hasher hasher;
  const double hash = seconds([&] {
    for (std::uint64_t i = 0; i < blocks; ++i)
      hasher.update(block);
  });
  const base::Digest wanted = hasher.finish();
  base::SystemClock clock;
  cache::Cache cache(folder.path() / "cache", folder.path() / "state", clock);
  auto partial = cache.open_partial("key", {wanted});
  double lag = 0;
  const double staged = seconds([&] {
    partial->reserve(blocks * block.size());
    for (std::uint64_t i = 0; i < blocks; ++i)
      partial->write_at(i * block.size(), as_bytes(block));
    lag = seconds([&] { CHECK(partial->matches() == base::DigestMatch::right); });
  });
  const double publish = seconds([&] { cache.publish(std::move(partial), {wanted}); });
  std::cout << blocks / 2 << " MiB: write " << write << " s, sha256 " << hash
            << " s, staged and hashed " << staged << " s (of it waiting at the end " << lag
            << " s), published " << publish << " s; staged / max " << staged / std::max(write, hash)
            << "\n";
}

TEST_CASE("measure: many small files, plainly written and staged as a tree", "[.][measure]") {
  constexpr int files = 20'000;
  std::mt19937 random(2);
  const std::string block = random_block(16384);
  std::vector<std::pair<std::string, std::size_t>> plan;
  for (int i = 0; i < files; ++i)
    plan.emplace_back("d" + std::to_string(i % 100) + "/f" + std::to_string(i),
                      1000 + random() % 15000);
  const base::TempDir folder(measure_folder(), "measure-");
  const double plain = seconds([&] {
    for (int i = 0; i < 100; ++i)
      base::make_directories(folder.path() / "plain" / ("d" + std::to_string(i)));
    for (const auto& [path, bytes] : plan) {
      const base::UniqueFd fd(
          ::open((folder.path() / "plain" / path).c_str(), O_WRONLY | O_CREAT | O_CLOEXEC, 0644));
      base::write_all(fd.get(), as_bytes(block).first(bytes), path);
    }
  });
  base::SystemClock clock;
  cache::Cache cache(folder.path() / "cache", folder.path() / "state", clock);
  auto partial = cache.open_partial_tree("key");
  const double staged = seconds([&] {
    for (const auto& [path, bytes] : plan) {
      auto& file = partial->open(path);
      file.reserve(bytes);
      file.write_at(0, as_bytes(block).first(bytes));
      partial->finish(path, "https://host/" + path);
    }
  });
  const double publish = seconds([&] { CHECK(cache.publish(std::move(partial)).files == files); });
  std::cout << files << " files: plainly " << plain << " s, staged and hashed " << staged
            << " s, published " << publish << " s; staged / plain " << staged / plain << "\n";
}
