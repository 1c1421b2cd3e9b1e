#include "h5_file.h"

#include <catch2/catch.hpp>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <sstream>
#include <string>

#include <sys/wait.h>
#include <unistd.h>

namespace fs = std::filesystem;

namespace {

// A folder of its own that goes away with the test.
class Folder {
 public:
  Folder() {
    std::string name = (fs::temp_directory_path() / "supercell-XXXXXX").string();
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

std::string content(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  std::ostringstream text;
  text << file.rdbuf();
  return text.str();
}

struct Ended {
  int status;
  std::string out;
  std::string err;
};

Ended run(const Folder& folder, const std::string& words, const std::string& environment = {}) {
  const std::string command = environment + " '" SUPERCELL_PROGRAMS "'/" + words + " >'" +
                              (folder / "out") + "' 2>'" + (folder / "err") + "'";
  const int status = std::system(command.c_str());  // NOLINT(concurrency-mt-unsafe): one thread
  return {WIFEXITED(status) ? WEXITSTATUS(status) : -1,
          content(folder / "out"),
          content(folder / "err")};
}

const char* const small_grid =
    " --cells-x 32 --cells-z 24 --coarsening 1 --snapshots 31 --training 2";

void check_failure(const Ended& ended, int status, const std::string& message) {
  INFO(ended.err);
  CHECK(ended.status == status);
  CHECK(ended.err.find(message) != std::string::npos);
}

}  // namespace

TEST_CASE("command line: wrong words end with status 2 and name the word") {
  const Folder folder;
  check_failure(run(folder, "supercell-simulate"), 2, "--out is required");
  check_failure(run(folder, "supercell-simulate --outt x"), 2, "unknown option '--outt'");
  check_failure(run(folder, "supercell-simulate more"), 2, "unexpected word 'more'");
  check_failure(run(folder, "supercell-simulate --out"), 2, "--out: the value is missing");
  check_failure(run(folder, "supercell-simulate --out a --out b"), 2, "--out: given twice");
  check_failure(run(folder, "supercell-simulate --out x --cells-x 97"), 2, "not multiples");
  check_failure(run(folder, "supercell-simulate --out x --interval 9"), 2, "sound travels");
  const std::string train = "supercell-train --data x --output y ";
  check_failure(run(folder, train + "--epochs 0"), 2, "--epochs: '0' is not a whole number");
  check_failure(run(folder, train + "--epochs 2.5"), 2, "--epochs: '2.5'");
  check_failure(run(folder, train + "--threads 0"), 2, "--threads: '0'");
  check_failure(run(folder, train + "--threads 257"), 2, "--threads: '257'");
  check_failure(run(folder, train + "--reduction=slow"), 2, "'slow' is not ordered or fast");
  check_failure(run(folder, train + "--learning-rate nan"), 2, "--learning-rate: 'nan'");
  check_failure(run(folder, train + "--learning-rate -1"), 2, "--learning-rate: '-1'");
  check_failure(run(folder, train + "--seed -1"), 2, "--seed: '-1'");
  check_failure(run(folder, "supercell-time --data x"), 2, "--weights is required");
}

TEST_CASE("command line: --help prints the options and ends well") {
  const Folder folder;
  for (const std::string program : {"supercell-simulate", "supercell-train", "supercell-time"}) {
    const Ended ended = run(folder, program + " --help");
    CHECK(ended.status == 0);
    CHECK(ended.out.find("--threads") != std::string::npos);
  }
}

TEST_CASE("command line: files that are missing or something else end with status 1") {
  const Folder folder;
  const std::string train = "supercell-train --output '" + (folder / "o") + "' --data ";
  check_failure(run(folder, train + "/nowhere.h5"), 1, "/nowhere.h5: no such file");
  std::ofstream(folder / "text.h5") << "not HDF5";
  check_failure(run(folder, train + (folder / "text.h5")), 1, "cannot be read as HDF5");
  {
    supercell::H5Writer file(folder / "other.h5");
    file.write("u", {1}, std::vector<double>{1.0}, {"a", "1", "x", ""});
    file.commit();
  }
  check_failure(run(folder, train + (folder / "other.h5")), 1, "has no attribute 'layout_version'");
  CHECK_FALSE(fs::exists(folder / "o/weights.h5"));
  check_failure(run(folder, "supercell-simulate --out /nowhere/x.h5"), 1, "cannot be written");
  check_failure(run(folder, "supercell-simulate --out '" + (folder / "") + "'"), 1, "is a folder");
  check_failure(run(folder, "supercell-train --data x --output '" + (folder / "text.h5") + "/sub'"),
                1,
                "cannot be made");
  check_failure(run(folder, train + "x", "SABATH_METRICS=/nowhere/m"), 1, "/nowhere/m: cannot be");
}

TEST_CASE("command line: the three programs work hand in hand, twice to the same bytes") {
  const Folder folder;
  const std::string data = folder / "supercell.h5";
  const std::string metrics = "SABATH_METRICS='" + (folder / "m.jsonl") + "'";
  const std::string simulate = "supercell-simulate" + std::string(small_grid) + " --out ";
  REQUIRE(run(folder, simulate + data).status == 0);
  REQUIRE(run(folder, simulate + data + "2 --threads 2").status == 0);
  CHECK(content(data) == content(data + "2"));

  const std::string train =
      "supercell-train --epochs 2 --samples 4096 --rollout 12 --seed 3 --data " + data +
      " --output ";
  REQUIRE(run(folder, train + (folder / "a"), metrics).status == 0);
  REQUIRE(run(folder, train + (folder / "b") + " --threads 3").status == 0);
  for (const std::string name : {"weights.h5", "predictions.h5"}) {
    CHECK(content(folder / ("a/" + name)).size() > 1000);
    CHECK(content(folder / ("a/" + name)) == content(folder / ("b/" + name)));
    CHECK_FALSE(fs::exists(folder / ("a/" + name + ".part")));
  }
  const std::string time = "supercell-time --steps 3 --repeats 2 --data " + data + " --weights ";
  REQUIRE(run(folder, time + (folder / "a/weights.h5"), metrics).status == 0);
  check_failure(run(folder, time + data), 1, "has no attribute 'spacing_x_m'");

  const std::string lines = content(folder / "m.jsonl");
  for (const std::string name : {"{\"step\": 1, \"epoch\": 1, \"loss\": ",
                                 "{\"step\": 32, \"epoch\": 2, \"validation_error\": ",
                                 ", \"epoch_time\": ",
                                 "{\"one_step_error\": ",
                                 "\"ten_step_persistence\": ",
                                 "{\"simulation_time\": ",
                                 "\"speedup\": "}) {
    INFO(name);
    CHECK(lines.find(name) != std::string::npos);
  }
}
