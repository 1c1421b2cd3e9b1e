// How engines are started, as their manuals have it: against fakes that note their arguments.

#include "env/container_images/image_registry.hpp"
#include "env_workshop.hpp"

#include <sabath/env/container_command.hpp>

#include <catch2/catch.hpp>

#include <sstream>

#include <unistd.h>

namespace fs = std::filesystem;
using namespace sabath;
using test::contains;
using test::error_of;
using Words = std::vector<std::string>;

namespace {

/// A container layer that is built, with an engine that notes how it is called.
struct Box : test::EnvWorkshop {
  fs::path program;
  spec::BuiltEnvironment environment{};

  explicit Box(const std::string& engine) : program(home / "bin" / engine) {
    base::make_directories(program.parent_path());
    base::make_directories(home / "dev");
    base::make_directories(home / "work");
    spec::BuiltLayer layer;
    layer.lock.kind = spec::LayerKind::container;
    layer.lock.name = "box";
    layer.prefix = (home / "prefix").string();
    layer.container = spec::ContainerImage{};
    layer.container->engine = engine;
    layer.container->program = program.string();
    layer.container->image = (home / "prefix/image").string();
    environment.layers.push_back(layer);
    // The digests of an empty image, which the fake's store has.
    write_image();
    fake("case \"$*\" in *inspect*) echo " + config_ + ";; esac");
    options.environment = {{"PATH", "/usr/bin:/bin"}, {"HOME", "/home/user"}};
  }

  spec::BuiltLayer& layer() { return environment.layers.back(); }
  void fake(const std::string& lines) {
    const std::string log = (home / "calls").string();
    base::write_file_atomically(program,
                                "#!/bin/sh\nprintf '%s\\n' \"$*\" >>" + log + "\n" + lines + "\n");
    fs::permissions(program, fs::perms::owner_all);
  }
  Words calls() const {
    std::istringstream lines(base::read_file_if_exists(home / "calls").value_or(""));
    Words found;
    for (std::string line; std::getline(lines, line);)
      found.push_back(line);
    return found;
  }
  env::ContainerUse use(const Words& argv) const {
    env::ContainerUse use;
    use.argv = argv;
    use.working_directory = home / "work";
    use.home = "/tmp";
    use.id_file = home / "id";
    use.device_directory = home / "dev";
    return use;
  }
  env::ContainerCommand command(const env::ContainerUse& use) {
    return env::container_command(environment, use, options.environment, processes);
  }
  Words argv(const Words& argv) { return command(use(argv)).argv; }
  std::string work() const { return (home / "work").string(); }
  const std::string& config() const { return config_; }

 private:
  void write_image() {
    const std::string config = "{}";
    config_ = base::sha256_of(config).text();
    const std::string manifest =
        "{\"schemaVersion\":2,\"config\":{\"digest\":\"" + config_ + "\"},\"layers\":[]}";
    const std::string digest = base::sha256_of(manifest).text();
    const fs::path layout = home / "prefix/image";
    base::make_directories(layout / "blobs/sha256");
    base::write_file_atomically(layout / "blobs/sha256" / digest.substr(7), manifest);
    base::write_file_atomically(layout / "index.json",
                                "{\"manifests\":[{\"digest\":\"" + digest + "\"}]}");
  }

  std::string config_{};
};

bool has(const Words& words, const Words& part) {
  return std::search(words.begin(), words.end(), part.begin(), part.end()) != words.end();
}

}  // namespace

TEST_CASE("container: apptainer is told what to bind, and gets the variables in its own") {
  Box box("apptainer");
  box.layer().variables = {{"OF_LAYER", "$HOME_OF_BEFORE/x"}};
  spec::BuiltLayer before;
  before.lock.name = "host";
  before.variables = {{"HOME_OF_BEFORE", "/opt"}};
  box.environment.layers.insert(box.environment.layers.begin(), before);
  auto use = box.use({"train", "--seed", "1"});
  use.readable = {"/data/in", "/data/in/"};
  use.writable = {"/data/out"};
  use.variables = {{"TOKEN", "s3cret $x"}};
  const auto command = box.command(use);
  CHECK(command.argv == Words{box.program.string(),
                              "exec",
                              "--cleanenv",
                              "--no-eval",
                              "--no-privs",
                              "--home",
                              "/tmp",
                              "--pwd",
                              box.work(),
                              "--mount",
                              "type=bind,source=/data/in,destination=/data/in,ro",
                              "--mount",
                              "type=bind,source=/data/out,destination=/data/out",
                              "--mount",
                              "type=bind,source=" + box.work() + ",destination=" + box.work(),
                              (box.home / "prefix/image").string(),
                              "train",
                              "--seed",
                              "1"});
  CHECK(command.environment.at("APPTAINERENV_TOKEN") == "s3cret $x");
  CHECK(command.environment.at("APPTAINERENV_OF_LAYER") == "/opt/x");
  CHECK_FALSE(command.environment.contains("OF_LAYER"));
  CHECK(command.removal.empty());
  CHECK(box.calls().empty());
}

TEST_CASE("container: what would change how apptainer runs is not taken from the user") {
  Box box("singularity");
  box.options.environment["SINGULARITY_BIND"] = "/";
  box.options.environment["SINGULARITYENV_PATH"] = "/evil";
  box.options.environment["SINGULARITY_CACHEDIR"] = "/scratch";
  box.options.environment["LD_PRELOAD"] = "/evil.so";
  const auto command = box.command(box.use({"true"}));
  CHECK(command.environment.at("SINGULARITY_CACHEDIR") == "/scratch");
  for (const char* name : {"SINGULARITY_BIND", "SINGULARITYENV_PATH", "LD_PRELOAD"})
    CHECK_FALSE(command.environment.contains(name));
}

TEST_CASE("container: GPUs are passed on where the layer wants them and the host has them") {
  const auto devices = GENERATE(as<Words>{}, Words{}, Words{"nvidiactl"}, Words{"kfd"});
  const std::string engine = GENERATE("apptainer", "podman", "docker");
  CAPTURE(engine, devices);
  Box box(engine);
  for (const std::string& device : devices)
    base::write_file_atomically(box.home / "dev" / device, "");
  const auto is_for_gpus = [](const std::string& word) {
    return word == "--nv" || word == "--rocm" || word == "--gpus" || word == "--device";
  };
  const Words without = box.argv({"true"});
  CHECK(std::none_of(without.begin(), without.end(), is_for_gpus));
  box.layer().container->gpus = true;
  const Words with = box.argv({"true"});
  if (devices.empty()) {
    CHECK(with == without);
  } else if (devices.front() == "kfd") {
    CHECK(has(with,
              engine == "apptainer" ? Words{"--rocm"}
                                    : Words{"--device", "/dev/kfd", "--device", "/dev/dri"}));
  } else {
    CHECK(has(with,
              engine == "apptainer" ? Words{"--nv"}
              : engine == "podman"  ? Words{"--device", "nvidia.com/gpu=all"}
                                    : Words{"--gpus", "all"}));
  }
}

TEST_CASE("container: docker runs the image by its ID, as the user, and can be ended") {
  Box box("docker");
  auto use = box.use({"train", "-x"});
  use.variables = {{"TOKEN", "s3cret"}, {"PATH", "/inside"}};
  const auto command = box.command(use);
  const Words& argv = command.argv;
  CHECK(Words(argv.begin(), argv.begin() + 4) ==
        Words{box.program.string(), "run", "--rm", "--pull=never"});
  CHECK(Words(argv.end() - 4, argv.end()) == Words{"--entrypoint", "train", box.config(), "-x"});
  CHECK(has(argv, {"--user", std::to_string(::getuid()) + ":" + std::to_string(::getgid())}));
  CHECK(has(argv, {"--cidfile", (box.home / "id").string(), "--workdir", box.work()}));
  CHECK(has(argv, {"--env", "TOKEN"}));
  CHECK(has(argv, {"--env", "PATH=/inside"}));
  CHECK(command.environment.at("TOKEN") == "s3cret");
  CHECK(command.environment.at("PATH") == "/usr/bin:/bin");
  CHECK(command.environment.at("HOME") == "/home/user");

  env::remove_container(command, box.processes);
  const auto before = box.calls().size();
  base::write_file_atomically(box.home / "id", "0123abcd\n");
  env::remove_container(command, box.processes);
  REQUIRE(box.calls().size() == before + 1);
  CHECK(box.calls().back() == "rm --force --volumes 0123abcd");
}

TEST_CASE("container: an image that the store lacks is loaded, and must be the right one") {
  Box box("docker");
  box.fake("case \"$*\" in *inspect*) [ -e " + (box.home / "loaded").string() + " ] && echo " +
           box.config() + ";; load*) touch " + (box.home / "loaded").string() + ";; esac");
  // As docker load wants it.
  for (const char* name : {"oci-layout", "manifest.json"})
    base::write_file_atomically(box.home / "prefix/image" / name, "{}");
  CHECK_NOTHROW(box.argv({"true"}));
  const Words calls = box.calls();
  CHECK(std::any_of(calls.begin(), calls.end(), [](const std::string& call) {
    return call.starts_with("load --quiet --input ");
  }));

  box.fake("case \"$*\" in *inspect*) echo sha256:other;; esac");
  const auto error = error_of([&] { box.argv({"true"}); });
  CHECK(error.kind() == base::ErrorKind::environment);
  CHECK(contains(error.what(), "docker loaded the image as another one"));
}

TEST_CASE("container: binds of the recipe are writable but for those that end in ':ro'") {
  const std::string engine = GENERATE("apptainer", "podman", "docker");
  const std::string read_only = engine == "apptainer" ? ",ro" : ",readonly";
  Box box(engine);
  const std::string data = (box.home / "dev").string();
  const std::string mount = "type=bind,source=" + data + ",destination=";
  box.layer().container->binds = {data, data + ":/a", data + ":/b:ro", data + ":/c:rw"};
  const Words argv = box.argv({"true"});
  for (const std::string& target : {data, std::string("/a"), std::string("/c")})
    CHECK(has(argv, {"--mount", mount + target}));
  CHECK(has(argv, {"--mount", mount + "/b" + read_only}));

  box.layer().container->binds = {"/nonexistent/data"};
  const auto error = error_of([&] { box.argv({"true"}); });
  CHECK(error.kind() == base::ErrorKind::environment);
  CHECK(contains(error.what(), "/nonexistent/data: no such file or folder on this machine"));
}

TEST_CASE("container: a folder whose name engines cannot read is refused") {
  Box box("podman");
  auto use = box.use({"true"});
  use.readable = {"/data/a,b"};
  const auto error = error_of([&] { box.command(use); });
  CHECK(contains(error.what(), "'/data/a,b' cannot be seen in a container"));
}

TEST_CASE("container: images are named as all engines complete them") {
  const auto text = [](const std::string& image) { return env::parse_image(image, "here").text(); };
  CHECK(text("python") == "docker.io/library/python:latest");
  CHECK(text("docker://python:3.12") == "docker.io/library/python:3.12");
  CHECK(text("team/code:1") == "docker.io/team/code:1");
  CHECK(text("localhost/code") == "localhost/code:latest");
  CHECK(text("ghcr.io/team/code:1.0_a") == "ghcr.io/team/code:1.0_a");
  CHECK(text("127.0.0.1:5000/code:1") == "127.0.0.1:5000/code:1");
  const std::string digest = "sha256:" + std::string(64, 'a');
  CHECK(text("python:3.12@" + digest) == "docker.io/library/python@" + digest);
  for (const char* bad : {"",
                          "-v",
                          "a b",
                          "oras://x/y",
                          "/image.sif",
                          "Python",
                          "x@sha256:12",
                          "docker://--privileged",
                          "a/../b",
                          "python:"}) {
    CAPTURE(bad);
    CHECK(error_of([&] { text(bad); }).kind() == base::ErrorKind::usage);
  }
}
