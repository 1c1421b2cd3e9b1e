#include "held_process.hpp"
#include "support/errors.hpp"
#include "support/variables.hpp"

#include <sabath/probe/library_versions.hpp>

#include <catch2/catch.hpp>

using namespace sabath;
using namespace sabath::test;
using probe::ask_library;
using Texts = std::map<std::string, std::string>;

TEST_CASE("versions: OpenBLAS says its version, its core and its threads") {
  const auto answer = ask_library(test_libraries + "/new/libopenblas.so");
  CHECK(answer.versions == Texts{{"blas", "OpenBLAS 0.3.21 (Haswell)"}});
  CHECK(answer.threads == Texts{{"openblas", "4"}});
}

TEST_CASE("versions: so does the one in wheels, whose functions are called otherwise") {
  const auto answer = ask_library(test_libraries + "/wheel/libscipy_openblas64_-ff651d7f.so");
  CHECK(answer.versions == Texts{{"blas", "OpenBLAS 0.3.29 (Haswell)"}});
  CHECK(answer.threads == Texts{{"openblas", "4"}});
}

TEST_CASE("versions: libraries of GPUs tell theirs as numbers") {
  const auto version = [](const std::string& name) {
    return ask_library(test_libraries + "/cuda/" + name + ".so").versions;
  };
  CHECK(version("libcudart") == Texts{{"cuda", "12.4"}});
  CHECK(version("libcuda") == Texts{{"cuda_driver", "12.8"}});
  CHECK(version("libcudnn") == Texts{{"cudnn", "9.1.0"}});
  CHECK(version("libnccl") == Texts{{"nccl", "2.18.5"}});
  CHECK(version("libcublas") == Texts{{"cublas", "12.4.5"}});
  CHECK(version("libamdhip64") == Texts{{"rocm", "HIP 6.3.42134"}});
}

TEST_CASE("versions: only libraries of the list are asked, and by the name of the file") {
  CHECK(probe::can_be_asked("libopenblasp-r0.3.21.so"));
  CHECK(probe::can_be_asked("libscipy_openblas64_-ff651d7f.so"));
  CHECK(probe::can_be_asked("libmpi.so.40.30.4"));
  CHECK_FALSE(probe::can_be_asked("libm.so.6"));
  CHECK_FALSE(probe::can_be_asked("libcublasLt.so.12"));
  CHECK_FALSE(probe::can_be_asked("libmpi_cxx.so.40"));
}

TEST_CASE("versions: a library that cannot be loaded is refused in the loader's words") {
  const base::Error error = error_of([] { ask_library("/no/such/libopenblas.so"); });
  CHECK(error.kind() == base::ErrorKind::launch);
  CHECK(contains(error.what(), "No such file"));
}

TEST_CASE("versions: an answer is found among what the library prints") {
  probe::LibraryAnswer answer;
  answer.versions = {{"blas", "X 1 (a)"}, {"mpi", "Y"}};
  answer.threads = {{"openmp", "2"}};
  const std::string noise = "hello\nsabath-version\tincomplete";
  CHECK(probe::answer_from(noise + probe::answer_lines(answer) + "bye") == answer);
}
