// The real globus-cli against a stand-in of the services Auth and Transfer.

#include "conformance/tool_conformance.hpp"
#include "support/daemon.hpp"
#include "support/errors.hpp"
#include "support/packages/python_tools.hpp"
#include "support/servers/files_of_urls.hpp"
#include "support/servers/loopback.hpp"
#include "support/variables.hpp"
#include "tool_case.hpp"

#include <nlohmann/json.hpp>

#include <sstream>
#include <thread>

#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

using namespace sabath;
namespace fs = std::filesystem;

namespace {

const std::string remote = "11111111-2222-3333-4444-555555555555";
const std::string local = "99999999-2222-3333-4444-555555555555";

/// Stand-in, configuration and login of one test. The local collection sees the folder "here" as
/// "/seen".
struct Globus {
  test::TempHome home{};
  std::uint16_t port = test::unused_port();
  test::PythonToolsOnPath tools_on_path{};
  test::Variables variables{
      {{"GLOBUS_SDK_SERVICE_URL_TRANSFER", "http://127.0.0.1:" + std::to_string(port) + "/"},
       {"GLOBUS_SDK_SERVICE_URL_AUTH", "http://127.0.0.1:" + std::to_string(port) + "/"},
       {"GLOBUS_CLI_CLIENT_ID", "22222222-2222-2222-2222-222222222222"},
       {"GLOBUS_CLI_CLIENT_SECRET", "x"},
       {"HOME", home.path().string()}}};
  std::unique_ptr<test::Daemon> stand_in{};
  test::Tools tools{};
  test::RecordingObserver observer{};
  fetch::Request request{};

  Globus() {
    fs::create_directories(home / "there");
    fs::create_directories(home / "here");
    fs::create_directories(home / "collection");
    fs::create_directory_symlink(home / "here", home / "collection" / "seen");
    stand_in = std::make_unique<test::Daemon>(
        std::vector<std::string>{"python3",
                                 SABATH_SOURCE_DIR "/tests/support/servers/globus_stand_in.py",
                                 std::to_string(port),
                                 (home / "there").string(),
                                 (home / "collection").string(),
                                 (home / "log").string()},
        port);
    tools.configuration.globus.local_collection = local;
    tools.configuration.globus.paths = {{(home / "here").string(), "/seen"}};
  }

  fetch::Fetcher& fetcher() { return tools.get("globus"); }
  std::string put(const std::string& name, const std::string& content) {
    test::put_file(home / "there", name, content);
    return "globus://" + remote + "/" + name;
  }
  std::vector<nlohmann::json> requests(const std::string& path_end) const {
    std::vector<nlohmann::json> found;
    std::istringstream lines(base::read_file_if_exists(home / "log").value_or(""));
    for (std::string line; std::getline(lines, line);) {
      auto seen = nlohmann::json::parse(line);
      if (seen["path"].get<std::string>().ends_with(path_end)) found.push_back(seen);
    }
    return found;
  }
};

/// A partial file that lies where the collection sees it.
class SeenFile final : public test::MemoryPartialFile {
 public:
  explicit SeenFile(const Globus& globus) : folder_(globus.home / "here") {}
  fs::path lend(std::string_view borrower) override {
    base::make_directories(folder_ / std::string(borrower));
    return folder_ / std::string(borrower) / "file";
  }
  std::string text() { return base::read_file_if_exists(lend("globus")).value_or("(no file)"); }

 private:
  fs::path folder_;
};

}  // namespace

TEST_CASE("tools: globus brings a file by a task that checks what the document expects") {
  Globus globus;
  SeenFile to(globus);
  const auto url = globus.put("data/a%20b.bin", "content");
  globus.request.digests = {base::sha256_of("content")};
  const auto outcome = globus.fetcher().fetch({url}, globus.request, to, globus.observer, {});
  CHECK(outcome.problem == "");
  CHECK(outcome.ok);
  CHECK(to.text() == "content");
  const auto transfers = globus.requests("/transfer");
  REQUIRE(transfers.size() == 1);
  const auto& body = transfers.front()["body"];
  CHECK(body["source_endpoint"] == remote);
  CHECK(body["destination_endpoint"] == local);
  CHECK(body["sync_level"] == 3);
  CHECK(body["verify_checksum"] == true);
  CHECK(body["fail_on_quota_errors"] == true);
  CHECK(body["notify_on_succeeded"] == false);
  CHECK_FALSE(body["deadline"].get<std::string>().empty());
  CHECK(body["DATA"][0]["source_path"] == "/data/a b.bin");
  CHECK(body["DATA"][0]["destination_path"] == "/seen/globus/file");
  CHECK(body["DATA"][0]["external_checksum"] == base::sha256_of("content").hex);
  CHECK(body["DATA"][0]["checksum_algorithm"] == "SHA256");
  CHECK_FALSE(fs::exists(to.lend("globus").string() + ".globus"));
}

TEST_CASE("tools: globus says why a task failed, waits, or needs a consent") {
  Globus globus;
  SeenFile to(globus);
  const auto outcome_of = [&](const std::string& name) {
    return globus.fetcher().fetch({"globus://" + remote + "/" + name}, {}, to, globus.observer, {});
  };
  const auto failed = outcome_of("fails.bin");
  CHECK_THAT(failed.problem, Catch::Contains("VERIFY_CHECKSUM: the checksums differ"));
  CHECK_FALSE(failed.retryable);
  CHECK(outcome_of("gone.bin").not_found);
  const auto consent = outcome_of("consent.bin");
  CHECK(consent.access_needed);
  CHECK(consent.problem == "Globus requires a login or a consent");
  CHECK_THAT(consent.hint, Catch::Contains("globus session consent"));
  const auto inactive = outcome_of("inactive.bin");
  CHECK(inactive.access_needed);
  CHECK_THAT(inactive.problem, Catch::Contains("the session has expired"));
  // The task is still there, and is found again.
  CHECK(outcome_of("inactive.bin").access_needed);
  const auto transfers = globus.requests("/transfer");
  CHECK(std::count_if(transfers.begin(), transfers.end(), [](const nlohmann::json& transfer) {
          return transfer["body"]["DATA"][0]["source_path"] == "/inactive.bin";
        }) == 1);
}

TEST_CASE("tools: a task of a fetch that was killed is found again, and not submitted twice") {
  Globus globus;
  SeenFile to(globus);
  const auto url = globus.put("slow.bin", "content");
  const int child = ::fork();
  if (child == 0) {
    globus.fetcher().fetch({url}, {}, to, globus.observer, {});
    ::_exit(0);
  }
  const fs::path journal = to.lend("globus").string() + ".globus";
  for (int i = 0; i < 1200; ++i) {
    const auto text = base::read_file_if_exists(journal).value_or("");
    if (text.find("\"task_id\":\"\"") == std::string::npos && !text.empty()) break;
    std::this_thread::sleep_for(std::chrono::milliseconds(50));
  }
  ::kill(child, SIGKILL);
  ::waitpid(child, nullptr, 0);
  REQUIRE(fs::exists(journal));
  globus.put("go", "");
  const auto outcome = globus.fetcher().fetch({url}, {}, to, globus.observer, {});
  CHECK(outcome.problem == "");
  CHECK(outcome.ok);
  CHECK(to.text() == "content");
  CHECK(globus.requests("/transfer").size() == 1);
  CHECK_FALSE(fs::exists(journal));
}

TEST_CASE("tools: globus shows what a task waits for, and cancels it when it is stopped") {
  Globus globus;
  SeenFile to(globus);
  const auto url = globus.put("slow.bin", "content");
  std::stop_source stop;
  std::jthread stopper([&] {
    for (int i = 0; i < 1200 && globus.requests("").size() < 4; ++i)
      std::this_thread::sleep_for(std::chrono::milliseconds(50));
    stop.request_stop();
  });
  const auto error = test::error_of(
      [&] { globus.fetcher().fetch({url}, {}, to, globus.observer, stop.get_token()); });
  CHECK(error.kind() == base::ErrorKind::interrupted);
  CHECK(globus.requests("/cancel").size() == 1);
  const auto& notes = globus.observer.notes;
  CHECK(std::any_of(notes.begin(), notes.end(), [](const std::string& note) {
    return test::contains(note, "CONNECT_FAILED") || test::contains(note, "does not answer");
  }));
}

TEST_CASE("tools: globus brings and lists trees") {
  Globus globus;
  globus.put("tree/a.txt", "aa");
  globus.put("tree/b.txt", "b");
  const std::string url = "globus://" + remote + "/tree/";
  auto& fetcher = globus.fetcher();
  CHECK(fetcher.names_many(url));
  const fs::path folder = globus.home / "here" / "tree";
  fs::create_directory(folder);
  const auto outcome = fetcher.fetch_tree(url, folder, globus.observer, {});
  CHECK(outcome.problem == "");
  CHECK(outcome.bytes == 3);
  CHECK(base::read_file(folder / "a.txt") == "aa");
  CHECK(globus.requests("/transfer").front()["body"]["DATA"][0]["recursive"] == true);
  const auto files = fetcher.list(url, std::nullopt, globus.observer, {});
  REQUIRE(files.size() == 2);
  CHECK(files[0].url == url + "a.txt");
  CHECK(files[0].size_bytes == 2U);
}

TEST_CASE("tools: globus cannot write where the collection does not see") {
  Globus globus;
  test::LentFile elsewhere;
  const std::string url = "globus://" + remote + "/a";
  const auto unseen = globus.fetcher().fetch({url}, {}, elsewhere, globus.observer, {});
  CHECK_FALSE(unseen.ok);
  CHECK_THAT(unseen.problem,
             Catch::Contains("is beneath no folder that the local collection sees"));
  CHECK_THAT(unseen.hint, Catch::Contains((globus.home / "here").string()));
  test::Tools unconfigured;
  const auto nothing = unconfigured.get("globus").fetch({url}, {}, elsewhere, globus.observer, {});
  CHECK_THAT(nothing.hint, Catch::Contains("local_collection"));
  CHECK(globus.requests("/transfer").empty());
}
