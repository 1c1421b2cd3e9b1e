#include "conformance/extractor_conformance.hpp"

#include <sabath/base/file.hpp>

using namespace sabath;
using spec::SourceKind;
using test::check_extractor;
using test::metric_from;

TEST_CASE("extractors: JSON lines conform") {
  check_extractor(metric_from("v", SourceKind::jsonl),
                  "own/metrics-0.jsonl",
                  "{\"v\": 1}\n{\"v\": 2}\n{\"v\": 3}\n");
}

TEST_CASE("extractors: regular expressions conform") {
  check_extractor(metric_from("v", SourceKind::regex, "v is (.)"),
                  "own/stdout.log",
                  "v is 1\nv is 2, v is 3\n");
}

TEST_CASE("extractors: key-value pairs conform") {
  check_extractor(
      metric_from("v", SourceKind::key_value, {}, "log"), "outputs/log", "v=1\nv: 2 v 3");
}

TEST_CASE("extractors: tables conform") {
  check_extractor(metric_from("v", SourceKind::csv, {}, "t.csv"), "own/work/t.csv", "v\n1\n2\n3\n");
}

TEST_CASE("extractors: MLLOG lines conform") {
  const std::string begin = ":::MLLOG {\"key\": \"v\", \"value\": ";
  check_extractor(metric_from("v", SourceKind::mllog),
                  "own/stderr.log",
                  begin + "1}\n" + begin + "2}\nx\n" + begin + "3}\n");
}

TEST_CASE("extractors: event files conform") {
  check_extractor(
      metric_from("v", SourceKind::tensorboard),
      "own/work/events.out.tfevents.1",
      base::read_file(std::filesystem::path(SABATH_TEST_DATA) / "collect/three.tfevents"));
}
