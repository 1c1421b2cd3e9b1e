// The files in tests/data/collect were written by tensorboardX and tensorboard (make_events.py).
#include "support/stage_left.hpp"

#include <sabath/base/file.hpp>

#include <boost/crc.hpp>
#include <catch2/catch.hpp>
#include <nlohmann/json.hpp>

#include <bit>
#include <cmath>
#include <cstdint>

using namespace sabath;
using Catch::Contains;
using test::metric_from;
using test::StageLeft;

namespace {

std::string data(const std::string& name) {
  return base::read_file(std::filesystem::path(SABATH_TEST_DATA) / "collect" / name);
}

spec::MetricSpec tag(const std::string& name, const std::string& file = {}) {
  return metric_from(name, spec::SourceKind::tensorboard, {}, file);
}

std::vector<double> written() {
  return nlohmann::json::parse(data("values.json")).at("loss/train").get<std::vector<double>>();
}

std::string little_endian(std::uint64_t value, std::size_t width) {
  std::string bytes;
  for (std::size_t i = 0; i < width; ++i)
    bytes += static_cast<char>(value >> (8 * i) & 0xFFU);
  return bytes;
}

std::string masked_crc(const std::string& bytes) {
  boost::crc_optimal<32, 0x1EDC6F41, 0xFFFFFFFF, 0xFFFFFFFF, true, true> crc;
  crc.process_bytes(bytes.data(), bytes.size());
  return little_endian(std::rotr(static_cast<std::uint32_t>(crc.checksum()), 15) + 0xA282EAD8U, 4);
}

/// A record of an event file.
std::string frame(const std::string& message) {
  const std::string length = little_endian(message.size(), 8);
  return length + masked_crc(length) + message + masked_crc(message);
}

/// Field 2 of a Summary.Value: simple_value.
std::string float_field(float value) {
  return "\x15" + little_endian(std::bit_cast<std::uint32_t>(value), 4);
}

/// Field 5 of an Event: a Summary of one Value.
std::string summary(const std::string& value) {
  const auto size = [](const std::string& text) { return static_cast<char>(text.size()); };
  const std::string field = std::string("\x0a") + size(value) + value;
  return std::string("\x2a") + size(field) + field;
}

constexpr const char* usual = "own/work/runs/a/events.out.tfevents.1700000000.host.1.0";

}  // namespace

TEST_CASE("collect: scalars of tensorboardX and of tensorboard come out as they were written") {
  for (const char* file : {"x.tfevents", "tensor.tfevents"}) {
    INFO(file);
    StageLeft left;
    left.file(usual, data(file));
    const auto got = left.collect({tag("loss/train")});
    CHECK(left.values("loss/train") == written());
    CHECK(left.point("loss/train", 7).step == 7);
    CHECK(left.point("loss/train", 7).time_s == 1.7e9 + 7);
    CHECK(left.point("loss/train", 7).rank == 0);
    CHECK(got.bad_lines == 0);
    CHECK(got.collected.empty());
  }
}

TEST_CASE("collect: scalars that are no finite numbers are values") {
  StageLeft left;
  left.file("outputs/x.tfevents", data("x.tfevents"));
  left.collect({tag("special", "x.tfevents")});
  const auto values = left.values("special");
  REQUIRE(values.size() == 5);
  CHECK(values[0] == static_cast<double>(0.1F));
  CHECK(std::isnan(values[1]));
  CHECK(values[2] == INFINITY);
  CHECK(values[3] == -INFINITY);
  CHECK(std::signbit(values[4]));
  CHECK(left.point("special", 4).step == 40);
}

TEST_CASE("collect: a tag that is not there is told with those that are, and one without scalars") {
  StageLeft left;
  left.file(usual, data("x.tfevents"));
  const auto got = left.collect({tag("loss"), tag("weights")});
  REQUIRE(got.collected.notes.size() == 2);
  CHECK(got.collected.notes[0] == "tag 'loss' is not there; scalars are loss/train, special");
  CHECK(got.collected.notes[1] == "tag 'weights' holds no scalar");
}

TEST_CASE("collect: folders of event files are ranks, files of one folder go on") {
  StageLeft left;
  left.file("outputs/a/events.out.tfevents.1", data("tensor.tfevents"));
  left.file("outputs/a/events.out.tfevents.2", data("tensor.tfevents"));
  left.file("outputs/b/events.out.tfevents.1", data("tensor.tfevents"));
  left.collect({tag("loss/train")});
  const std::size_t one = written().size();
  REQUIRE(left.values("loss/train").size() == 3 * one);
  CHECK(left.point("loss/train", 2 * one - 1).rank == 0);
  CHECK(left.point("loss/train", 2 * one).rank == 1);
}

TEST_CASE("collect: an event file that is cut off anywhere keeps what is before the cut",
          "[long]") {
  const std::string whole = data("x.tfevents");
  std::size_t most = 0;
  for (std::size_t length = 0; length < whole.size(); length += 13) {
    StageLeft left;
    left.file(usual, whole.substr(0, length));
    const auto got = left.collect({tag("loss/train")});
    CHECK(got.bad_lines <= 1);
    if (got.bad_lines == 1) CHECK(got.examples[0].problem == "is cut off");
    most = std::max(most, left.values("loss/train").size());
    const auto expected = written();
    const auto values = left.values("loss/train");
    CHECK(std::equal(values.begin(), values.end(), expected.begin()));
  }
  CHECK(most == written().size());
}

TEST_CASE("collect: no byte of an event file can be changed unseen") {
  const std::string whole = data("tensor.tfevents");
  for (std::size_t at = 0; at < whole.size(); at += 11) {
    std::string changed = whole;
    changed[at] = static_cast<char>(changed[at] ^ 0x10);
    StageLeft left;
    left.file(usual, changed);
    const auto got = left.collect({tag("loss/train")});
    CHECK(got.bad_lines == 1);
    CHECK(got.points < written().size() + 1);
  }
}

TEST_CASE("collect: a file that is no event file is told") {
  StageLeft left;
  left.file(usual, std::string(5000, 'x'));
  const auto got = left.collect({tag("loss/train")});
  CHECK(got.bad_lines == 1);
  CHECK_THAT(got.examples[0].problem, Contains("checksum is wrong"));
}

TEST_CASE("collect: an event that has a value twice is refused") {
  const std::string tag_v = "\x0a\x01v";
  const std::string one = float_field(1);
  const std::string two = float_field(2);
  const std::string step = "\x10\x01";
  const std::string twice = GENERATE_COPY(step + summary(tag_v + one + two),
                                          step + summary(tag_v + "\x0a\x01w" + one),
                                          step + "\x10\x02" + summary(tag_v + one));
  StageLeft left;
  left.file("outputs/x.tfevents", frame(step + summary(tag_v + one)) + frame(twice));
  const auto got = left.collect({tag("v", "x.tfevents")});
  CHECK(left.values("v") == std::vector<double>{1});
  REQUIRE(got.examples.size() == 1);
  CHECK(got.examples[0].line == 2);
  CHECK(got.examples[0].problem == "has two values where there is one");
}
