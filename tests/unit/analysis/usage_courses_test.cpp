#include "support/temp_home.hpp"

#include <sabath/analysis/usage_courses.hpp>
#include <sabath/base/file.hpp>

#include <catch2/catch.hpp>

#include <map>

using namespace sabath;
namespace fs = std::filesystem;

namespace {

/// An attempt's folder, with files of samples.
class Attempt {
 public:
  void file(const std::string& name, const std::string& lines) const {
    fs::create_directories((home_.path() / name).parent_path());
    base::write_file_atomically(home_.path() / name, lines, base::Durability::ordered_only);
  }
  std::map<std::string, std::vector<report::Bucket>> courses() const {
    std::map<std::string, std::vector<report::Bucket>> courses;
    for (const analysis::UsageCourse& usage : analysis::usage_courses(home_.path()))
      courses[usage.what] = usage.course.buckets();
    return courses;
  }

 private:
  test::TempHome home_;
};

}  // namespace

TEST_CASE("usage: rates are between two samples, levels at one") {
  Attempt attempt;
  attempt.file("samples-n.jsonl",
               R"({"t_s": 1, "cpu_s": 0.5, "rss_bytes": 1048576})"
               "\n"
               R"({"t_s": 3, "cpu_s": 4.5, "rss_bytes": 3145728})"
               "\n");
  const auto courses = attempt.courses();
  REQUIRE(courses.at("busy CPUs").size() == 2);
  CHECK(courses.at("busy CPUs")[0].mean == 0.5);
  CHECK(courses.at("busy CPUs")[1].mean == 2);
  CHECK(courses.at("busy CPUs")[1].x == 2);
  CHECK(courses.at("memory")[1].mean == 3);
  CHECK(courses.at("memory")[1].x == 3);
  CHECK(courses.size() == 2);
}

TEST_CASE("usage: power is that of all GPUs, and of the processors by their energy") {
  Attempt attempt;
  attempt.file(
      "samples-n.jsonl",
      std::string(
          R"({"t_s": 1, "cpu_s": 1, "energy_j": {"package-0": 20, "package-0/core": 9, "GPU-1": 300, "package-0/dram": 5}})") +
          "\n{\"t_s\": 2, \"cpu_s\": 2, \"energy_j\": {\"package-0\": 60, \"package-0/dram\": "
          "15}, " +
          "\"gpus\": [{\"power_w\": 300, \"utilisation\": 0.5, \"memory_bytes\": 1073741824}, " +
          "{\"power_w\": 100, \"utilisation\": 1.0}]}\n");
  const auto courses = attempt.courses();
  CHECK(courses.at("power")[0].mean == 25);
  CHECK(courses.at("power")[1].mean == 450);  // 400 of GPUs, 40 of the package, 10 of its DRAM
  REQUIRE(courses.at("GPU use").size() == 1);
  CHECK(courses.at("GPU use")[0].low == 50);
  CHECK(courses.at("GPU use")[0].high == 100);
  CHECK(courses.at("GPU memory")[0].mean == 1);
}

TEST_CASE("usage: a later step goes on where the one before ended, nodes and ranks lie together") {
  Attempt attempt;
  attempt.file("samples-a.b.jsonl", "{\"t_s\": 10, \"cpu_s\": 10}\n");
  attempt.file("samples-a.b.1.jsonl", "{\"t_s\": 4, \"cpu_s\": 8}\n");
  attempt.file("train/samples-c.jsonl", "{\"t_s\": 2, \"cpu_s\": 6}\n");
  const auto courses = attempt.courses();
  const auto& busy = courses.at("busy CPUs");
  REQUIRE(busy.size() == 3);
  CHECK(busy[0].x == 1);
  CHECK(busy[0].mean == 3);
  CHECK(busy[1].x == 5);
  CHECK(busy[2].x == 12);
  CHECK(busy[2].mean == 2);
}

TEST_CASE("usage: what is no sample is passed by") {
  Attempt attempt;
  attempt.file(
      "samples-n.jsonl",
      "\n[]\nnull\n{\"t_s\": \"1\"}\n{\"cpu_s\": 3}\n{\"t_s\": 1, \"cpu_s\": \"x\", \"gpus\": 7, "
      "\"energy_j\": [1], \"rss_bytes\": -1}\n{\"t_s\": 2, \"gpus\": [1, {}]}\n{\"t_s\": 3, \"cp");
  CHECK(attempt.courses().empty());
  CHECK(Attempt().courses().empty());
}
