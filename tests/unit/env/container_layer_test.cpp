// Images of a registry on the loopback interface, with real engines: podman, skopeo, and docker.

#include "conformance/layer_conformance.hpp"
#include "container_workshop.hpp"

#include <catch2/catch.hpp>

#include <thread>

namespace fs = std::filesystem;
using namespace sabath;
using test::any_contains;
using test::ContainerWorkshop;
using test::contains;
using test::error_of;

TEST_CASE("container: what is locked is what runs, whatever the tag means later") {
  ContainerWorkshop shop;
  const std::string image = shop.containers.image("box:1", {"--text", "first\n"});
  const auto spec = ContainerWorkshop::asks_for(image);
  const auto lock = shop.lock(spec);
  REQUIRE(lock.layers.size() == 1);
  REQUIRE(lock.layers[0].platforms.size() == 1);
  const auto& platform = lock.layers[0].platforms[0];
  CHECK(platform.resolver == "skopeo");
  REQUIRE(platform.packages.size() == 3);
  CHECK(platform.packages[0].name == image.substr(0, image.rfind(':')));
  CHECK(platform.packages[0].version == "1");
  CHECK(platform.packages[0].requested);
  CHECK(platform.packages[1].name == "config");
  CHECK(platform.packages[2].name == "layer-001");

  shop.containers.image("box:1", {"--text", "second\n"});
  const auto built = shop.build(spec);
  CHECK(shop.shell(built, "cat /etc/text") == "first\n");
  const auto& layer = built.layers.at(0);
  CHECK(layer.lock.facts.at("image") == platform.packages[0].digest.text());
  CHECK(layer.lock.facts.at("form") == "oci");
  CHECK(layer.lock_file == lock.digest());
  REQUIRE(layer.container.has_value());
  CHECK(layer.container->engine == "podman");
  const auto present = shop.store().list().at(0).present;
  CHECK(present.at("engine.version").starts_with("podman version "));
  CHECK(present.at("image.id") == platform.packages[1].digest.text());
}

TEST_CASE("container: of an image for several platforms the one for the machine is locked") {
  ContainerWorkshop shop;
  const std::string image =
      shop.containers.image("box:1", {"--platform", "linux/arm64", "--platform", "linux/amd64"});
  const auto spec = ContainerWorkshop::asks_for(image);
  const auto here = shop.lock(spec, {"linux-x86_64", ""});
  const auto other = shop.lock(spec, {"linux-aarch64", ""});
  const auto image_of = [](const spec::PackageLock& lock) {
    return lock.layers.at(0).platforms.at(0).packages.at(0).digest;
  };
  CHECK(image_of(here) != image_of(other));
  const auto error = error_of([&] { shop.lock(spec, {"linux-ppc64le", ""}); });
  CHECK(error.kind() == base::ErrorKind::environment);
  CHECK(
      contains(error.what(), "is not there for linux/ppc64le; it is for linux/amd64, linux/arm64"));
  SECTION("with docker alone, the same is locked") {
    shop.options.environment["PATH"] = (shop.home / "bin").string();
    shop.program("docker",
                 "#!/bin/sh\nexec /usr/bin/env -S "
                 "PATH=/usr/local/bin:/usr/bin:/bin:" SABATH_CONTAINER_ENGINES " docker \"$@\"\n");
    const auto again = shop.lock(spec, {"linux-x86_64", ""});
    CHECK(again.layers[0].platforms[0].resolver == "docker");
    CHECK(again.layers[0].platforms[0].packages == here.layers[0].platforms[0].packages);
  }
}

TEST_CASE("container: an image for another architecture is refused when it is locked") {
  ContainerWorkshop shop;
  const auto spec =
      ContainerWorkshop::asks_for(shop.containers.image("box:1", {"--platform", "linux/s390x"}));
  const auto error = error_of([&] { shop.lock(spec, {"linux-x86_64", ""}); });
  CHECK(contains(error.what(), "is not there for linux/amd64; it is for linux/s390x"));
}

TEST_CASE("container: registries that have nothing, want a login or cannot be reached are told") {
  ContainerWorkshop shop;
  const std::string registry = "127.0.0.1:" + std::to_string(shop.containers.port());
  SECTION("no such image") {
    const auto error =
        error_of([&] { shop.lock(ContainerWorkshop::asks_for(registry + "/nothing:1")); });
    CHECK(error.kind() == base::ErrorKind::not_found);
    CHECK(contains(error.what(), "cannot look up " + registry + "/nothing:1"));
  }
  SECTION("nobody listens") {
    shop.containers.close_registry();
    const auto error =
        error_of([&] { shop.lock(ContainerWorkshop::asks_for(registry + "/box:1")); });
    CHECK(error.kind() == base::ErrorKind::transfer);
    CHECK(contains(error.hint(), "registries.conf sets mirrors"));
    CHECK(contains(error.hint(), "'sabath env lock RECIPE' on a machine with a network"));
  }
  SECTION("a login is wanted") {
    shop.program("skopeo",
                 "#!/bin/sh\necho 'reading manifest 1 in secret.io/box: unauthorized: "
                 "authentication required' >&2\nexit 1\n");
    const auto error = error_of([&] { shop.lock(ContainerWorkshop::asks_for("secret.io/box:1")); });
    CHECK(error.kind() == base::ErrorKind::access);
    CHECK(contains(error.hint(), "skopeo login"));
  }
}

TEST_CASE("container: blobs that were fetched are built without a registry") {
  ContainerWorkshop shop;
  const auto spec = ContainerWorkshop::asks_for(shop.containers.image("box:1"));
  shop.lock(spec);
  // What the cache does, in small.
  const fs::path objects = shop.home / "objects";
  base::make_directories(objects);
  shop.options.bring = [&](const std::vector<env::PinnedFile>& files,
                           const env::Download& download,
                           base::Observer&,
                           std::stop_token) {
    std::vector<fs::path> paths;
    for (const env::PinnedFile& file : files) {
      paths.push_back(objects / file.digest.hex);
      if (fs::exists(paths.back())) continue;
      const base::TempDir folder(shop.home.path());
      fs::rename(download({file}, folder.path()).front(), paths.back());
      CHECK(base::digest_file(paths.back()) == file.digest);
    }
    return paths;
  };
  CHECK(shop.store().fetch(spec, shop.recipe(), shop.observer).size() == 3);
  shop.containers.close_registry();
  const auto built = shop.build(spec);
  CHECK(shop.shell(built, "echo hello") == "hello\n");
}

TEST_CASE("container: a registry that gives other bytes for a digest is not believed") {
  ContainerWorkshop shop;
  const std::string image = shop.containers.image("box:1");
  const auto spec = ContainerWorkshop::asks_for(image);
  const auto lock = shop.lock(spec);
  const std::string layer = lock.layers[0].platforms[0].packages[2].digest.hex;
  const fs::path blob = shop.home / "containers/registry/docker/registry/v2/blobs/sha256" /
                        layer.substr(0, 2) / layer / "data";
  REQUIRE(fs::exists(blob));
  std::string bytes = base::read_file(blob);
  bytes.back() = static_cast<char>(bytes.back() ^ 1);
  base::write_file_atomically(blob, bytes);
  CHECK_NOTHROW(error_of([&] { shop.build(spec); }));
  CHECK_FALSE(shop.find(spec).has_value());
}

TEST_CASE("container: the command sees what it may, as its user, and nothing of the host's") {
  ContainerWorkshop shop;
  auto spec =
      ContainerWorkshop::asks_for(shop.containers.image("box:1", {"--env", "OF_IMAGE=yes"}));
  spec.layers[0].variables = {{"OF_LAYER", "layer"}};
  spec.layers[0].container.binds = {(shop.home / "work").string() + ":/inside:ro"};
  base::write_file_atomically(shop.home / "work/bound", "bound\n");
  shop.lock(spec);
  const auto built = shop.build(spec);
  shop.write("note.txt", "written outside\n");
  shop.options.environment["OF_HOST"] = "host";
  shop.options.environment["OMP_NUM_THREADS"] = "3";
  auto use = shop.use({"sh",
                       "-c",
                       "pwd; cat " + (shop.recipe() / "note.txt").string() +
                           "; cat /inside/bound; echo > /inside/x || echo bound read-only; echo "
                           "$OF_IMAGE $OF_LAYER $OF_STAGE $OMP_NUM_THREADS ${OF_HOST-none};"
                           "echo \"$LINES_\"; echo $HOME; id -u > made; touch " +
                           (shop.recipe() / "no").string() + " || echo read-only"});
  use.variables = {{"OF_STAGE", "stage"}, {"LINES_", "one\ntwo  'three' $x `y`"}};
  const auto result = shop.run(built, use);
  const std::string work = (shop.home / "work").string();
  CHECK(result.output == work +
                             "\nwritten outside\nbound\nbound read-only\nyes layer stage 3 none\n" +
                             "one\ntwo  'three' $x `y`\n" + work + "\nread-only\n");
  CHECK(base::read_file(shop.home / "work/made") == std::to_string(::getuid()) + "\n");
  CHECK_FALSE(fs::exists(shop.recipe() / "no"));
  for (const std::string& word : shop.command(built, use).argv)
    CHECK_FALSE(contains(word, "'three'"));
}

TEST_CASE("container: exit statuses come through, and an image's entry point does not interfere") {
  ContainerWorkshop shop;
  const auto spec =
      ContainerWorkshop::asks_for(shop.containers.image("box:1", {"--entrypoint", "/bin/false"}));
  shop.lock(spec);
  const auto built = shop.build(spec);
  CHECK(shop.run(built, shop.use({"sh", "-c", "exit 7"})).exit_code == 7);
  CHECK(shop.run(built, shop.use({"true"})).exit_code == 0);
  const auto missing = shop.run(built, shop.use({"nosuch"}));
  CHECK(missing.exit_code != 0);
  CHECK(contains(missing.errors, "o such file"));
}

TEST_CASE("container: nothing is left of a command that was stopped or killed") {
  ContainerWorkshop shop;
  const auto spec = ContainerWorkshop::asks_for(shop.containers.image("box:1"));
  shop.lock(spec);
  const auto built = shop.build(spec);
  const fs::path mark = shop.home / "work/mark";
  // Deaf to SIGTERM, so that only what cannot be ignored ends it.
  const auto use = shop.use({"sh", "-c", "trap '' TERM; touch mark; while :; do sleep 1; done"});
  const auto started = shop.command(built, use);
  base::Command command;
  command.argv = started.argv;
  command.environment = started.environment;
  command.grace = std::chrono::milliseconds(500);
  std::stop_source stop;
  base::ProcessResult result;
  std::jthread runner([&] { result = shop.processes.run(command, stop.get_token()); });
  while (!fs::exists(mark))
    std::this_thread::sleep_for(std::chrono::milliseconds(20));
  stop.request_stop();
  runner.join();
  CHECK(result.end == base::ProcessEnd::stopped);
  env::remove_container(started, shop.processes);
  CHECK(shop.containers.run({"podman", "ps", "--all", "--quiet"}).output.empty());
}

TEST_CASE("container: an image that went from the engine's store is loaded again") {
  ContainerWorkshop shop;
  const auto spec = ContainerWorkshop::asks_for(shop.containers.image("box:1"));
  shop.lock(spec);
  const auto built = shop.build(spec);
  shop.containers.close_registry();
  REQUIRE(shop.containers.run({"podman", "rmi", "--all", "--force"}).ok());
  CHECK(shop.shell(built, "echo again") == "again\n");
}

TEST_CASE("container: a command that the image lacks fails the build") {
  ContainerWorkshop shop;
  auto spec = ContainerWorkshop::asks_for(shop.containers.image("box:1"));
  spec.layers[0].commands = {"cat", "nosuch", "ls"};
  shop.lock(spec);
  const auto error = error_of([&] { shop.build(spec); });
  CHECK(error.kind() == base::ErrorKind::environment);
  CHECK(contains(error.what(), "the image has no such command: nosuch"));
}

TEST_CASE(
    "container: machines with podman and with docker have one key, one with Apptainer another") {
  ContainerWorkshop shop;
  const std::string image = shop.containers.image("box:1");
  shop.lock(ContainerWorkshop::asks_for(image));
  for (const char* const name : {"podman", "docker", "apptainer", "singularity"})
    shop.program(name, "#!/bin/sh\necho " + std::string(name) + " version 1.2.3\n");
  const auto key_with = [&](const std::string& engine) {
    return shop.store()
        .lock(ContainerWorkshop::asks_for(image, engine), shop.recipe())
        .layers.at(0)
        .key;
  };
  CHECK(key_with("podman") == key_with("docker"));
  CHECK(key_with("apptainer") == key_with("singularity"));
  CHECK(key_with("podman") != key_with("apptainer"));
}

TEST_CASE("container: an engine that may not run here says what is to be set up") {
  ContainerWorkshop shop;
  const auto spec = ContainerWorkshop::asks_for(shop.containers.image("box:1"), "docker");
  shop.lock(spec);
  shop.program("docker",
               "#!/bin/sh\n[ \"$1\" = --version ] && { echo Docker version 1; exit 0; }\n"
               "echo 'Cannot connect to the Docker daemon at unix:///x. Is the docker daemon "
               "running?' >&2\nexit 1\n");
  const auto error = error_of([&] { shop.build(spec); });
  CHECK(error.kind() == base::ErrorKind::launch);
  CHECK(contains(error.what(), "Cannot connect to the Docker daemon"));
  CHECK(contains(error.hint(), "not set up for this user"));
  // When that is mended it builds, without being told to try again.
  CHECK(shop.store().list().empty());
}

TEST_CASE("container: a runtime that cannot start is not a command that the image lacks") {
  ContainerWorkshop shop;
  auto spec = ContainerWorkshop::asks_for(shop.containers.image("box:1"));
  spec.layers[0].commands = {"cat"};
  shop.lock(spec);
  const auto error_with = [&](const std::string& said, int status) {
    shop.program("podman",
                 "#!/bin/sh\n[ \"$1\" = run ] || exec /usr/bin/podman \"$@\"\ncat >&2 <<'END'\n" +
                     said + "\nEND\nexit " + std::to_string(status) + "\n");
    return error_of([&] {
      shop.store().build(spec, shop.recipe(), shop.observer, {}, env::AfterFailure::retry);
    });
  };
  auto error = error_with(
      "Error: runc: create failed: unable to apply cgroup configuration: OCI permission denied",
      126);
  CHECK(error.kind() == base::ErrorKind::environment);
  CHECK(contains(error.what(), "cannot start a container of the image: it exited with status 126"));
  CHECK(contains(error.what(), "unable to apply cgroup configuration"));
  error = error_with(
      "Error: crun: executable file `sh` not found in $PATH: OCI runtime attempted to invoke a "
      "command that was not found",
      127);
  CHECK(contains(error.what(), "the image has no such command: sh"));
}

TEST_CASE("container: no engine, no lock, or no image of a registry are refused at once") {
  ContainerWorkshop shop;
  auto spec = ContainerWorkshop::asks_for(shop.containers.image("box:1"));
  CHECK(contains(error_of([&] { shop.build(spec); }).what(), "is not locked"));
  shop.lock(spec);
  shop.options.environment["PATH"] = "/nonexistent";
  auto error = error_of([&] { shop.build(spec); });
  CHECK(error.kind() == base::ErrorKind::environment);
  CHECK(contains(error.what(), "no container engine on PATH: podman"));
  spec.layers[0].container.image = "--privileged";
  error = error_of([&] { shop.build(spec); });
  CHECK(error.kind() == base::ErrorKind::usage);
  CHECK(contains(error.what(), "'--privileged' is not an image of a registry"));
}

TEST_CASE(
    "container: apptainer makes a file of the blobs, or fetches by the digest without skopeo") {
  ContainerWorkshop shop;
  const auto spec = ContainerWorkshop::asks_for(shop.containers.image("box:1"), "apptainer");
  const auto image = shop.lock(spec).layers[0].platforms[0].packages[0];
  const std::string log = (shop.home / "calls").string();
  shop.program("apptainer",
               "#!/bin/sh\n[ \"$1\" = --version ] && { echo apptainer version 1.3.4; exit 0; }\n"
               "echo \"$@\" >>" +
                   log + "\n[ \"$1\" = build ] && echo sif >\"$2\"\nexit 0\n");
  std::string source = " oci:";
  SECTION("with skopeo") {}
  SECTION("without") {
    shop.options.environment["PATH"] = (shop.home / "bin").string();
    source = " docker://" + image.name + "@" + image.digest.text();
  }
  const auto built = shop.build(spec);
  const auto& container = built.layers.at(0).container;
  REQUIRE(container.has_value());
  CHECK(container->engine == "apptainer");
  CHECK(container->image == built.layers.at(0).prefix + "/image.sif");
  const std::string calls = base::read_file(log);
  CHECK(contains(calls, "build " + container->image + source));
  CHECK(contains(calls, "\nexec --cleanenv "));
  CHECK(shop.store().list().at(0).present.at("image.sif") == base::sha256_of("sif\n").text());
}

TEST_CASE("container: a real Apptainer or Singularity, where one is installed, runs the image") {
  ContainerWorkshop shop;
  const std::string engine = base::find_program("apptainer") ? "apptainer" : "singularity";
  if (!base::find_program(engine)) {
    WARN("neither Apptainer nor Singularity is installed: not tested");
    return;
  }
  auto spec = ContainerWorkshop::asks_for(
      shop.containers.image("box:1", {"--env", "OF_IMAGE=yes", "--entrypoint", "/bin/false"}),
      engine);
  spec.layers[0].commands = {"cat"};
  shop.lock(spec);
  const auto built = shop.build(spec);
  auto use = shop.use({"sh", "-c", "cat /etc/text; echo $OF_IMAGE \"$VALUE\"; pwd > made; exit 7"});
  use.variables = {{"VALUE", "$HOME `id`"}};
  const auto result = shop.run(built, use);
  CHECK(result.output == "text of the image\nyes $HOME `id`\n");
  CHECK(result.exit_code == 7);
  CHECK(base::read_file(shop.home / "work/made") == (shop.home / "work").string() + "\n");
  spec.layers[0].commands = {"cat", "nosuch"};
  spec.layers[0].variables = {{"ANOTHER", "layer"}};
  CHECK(contains(error_of([&] { shop.build(spec); }).what(), "no such command: nosuch"));
}

TEST_CASE("container: the layer conforms") {
  ContainerWorkshop shop;
  const auto good = ContainerWorkshop::asks_for(shop.containers.image("box:1")).layers[0];
  shop.lock({{}, {good}});
  auto impossible = good;
  impossible.container.engines = {"docker"};
  impossible.container.image = "example.org/other:1";
  const auto layers = env::builtin_layers(shop.processes, shop.clock, {}, shop.options.environment);
  const auto layer = std::find_if(layers.begin(), layers.end(), [](const auto& one) {
    return one->kind() == spec::LayerKind::container;
  });
  test::check_layer_conformance(
      {**layer,
       good,
       impossible,
       shop.recipe(),
       {{"PATH", shop.options.environment.at("PATH")}, {"HOME", "/nonexistent"}}});
}

TEST_CASE("container: its key is the same for another user at another place") {
  ContainerWorkshop shop;
  const auto spec = ContainerWorkshop::asks_for(shop.containers.image("box:1"));
  shop.lock(spec);
  test::check_key_travels(spec, shop.recipe(), shop.options);
}

TEST_CASE("container: docker runs the same image, and nothing is left of it") {
  if (::geteuid() != 0) {
    WARN("docker's daemon wants root: not tested");
    return;
  }
  ContainerWorkshop shop;
  shop.containers.start_docker();
  shop.use_containers();
  const auto spec =
      ContainerWorkshop::asks_for(shop.containers.image("box:1", {"--docker"}), "docker");
  shop.lock(spec);
  const auto built = shop.build(spec);
  CHECK(shop.shell(built, "cat /etc/text; id -u > made") == "text of the image\n");
  CHECK(fs::exists(shop.home / "work/made"));
  CHECK(shop.run(built, shop.use({"sh", "-c", "exit 7"})).exit_code == 7);
  CHECK(shop.containers.run({"docker", "ps", "--all", "--quiet"}).output.empty());
}
