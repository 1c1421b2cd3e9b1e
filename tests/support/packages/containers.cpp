#include "support/packages/containers.hpp"

#include "support/servers/loopback.hpp"

#include <sabath/base/file.hpp>

#include <chrono>
#include <stdexcept>
#include <thread>

namespace sabath::test {

namespace fs = std::filesystem;

namespace {

void write(const fs::path& path, const std::string& text) {
  base::make_directories(path.parent_path());
  base::write_file_atomically(path, text, base::Durability::ordered_only);
}

/// What engines of a host without services need: no systemd, runc, limits that this user has.
constexpr const char* engine_settings = R"([containers]
default_ulimits = ["nofile=1000:1000", "nproc=1000:1000"]
[engine]
cgroup_manager = "cgroupfs"
events_logger = "file"
runtime = "runc"
tmp_dir = ")";

}  // namespace

Containers::Containers(fs::path folder) : folder_(std::move(folder)), port_(unused_port()) {
  configure();
  open_registry();
}

Containers::~Containers() {
  // What its files are mounted from goes with it.
  if (fs::exists(folder_ / "images")) run({"podman", "system", "reset", "--force"});
}

void Containers::configure() {
  const std::string folder = folder_.string();
  const std::string registry = "127.0.0.1:" + std::to_string(port_);
  write(folder_ / "home/.config/containers/registries.conf",
        "[[registry]]\nlocation = \"" + registry + "\"\ninsecure = true\n");
  write(folder_ / "home/.config/containers/policy.json",
        R"({"default": [{"type": "insecureAcceptAnything"}]})");
  write(folder_ / "containers.conf", engine_settings + folder + "/tmp\"\n");
  write(folder_ / "storage.conf",
        "[storage]\ndriver = \"vfs\"\ngraphroot = \"" + folder + "/images\"\nrunroot = \"" +
            folder + "/run\"\n");
  write(folder_ / "registry.yml",
        "version: 0.1\nlog: {level: error}\nstorage: {filesystem: {rootdirectory: " + folder +
            "/registry}}\nhttp: {addr: '" + registry + "'}\n");
  variables_ = {{"HOME", folder + "/home"},
                {"CONTAINERS_CONF", folder + "/containers.conf"},
                {"CONTAINERS_STORAGE_CONF", folder + "/storage.conf"},
                {"XDG_RUNTIME_DIR", folder + "/runtime"},
                {"XDG_CONFIG_HOME", folder + "/home/.config"}};
  base::make_directories(folder_ / "runtime");
}

void Containers::open_registry() {
  registry_ =
      std::make_unique<Daemon>(std::vector<std::string>{SABATH_CONTAINER_ENGINES "/docker-registry",
                                                        "serve",
                                                        (folder_ / "registry.yml").string()},
                               port_);
}

base::ProcessResult Containers::run(const std::vector<std::string>& argv) const {
  base::Command command;
  command.argv = argv;
  command.environment = base::current_environment();
  for (const auto& [name, value] : variables_)
    (*command.environment)[name] = value;
  return base::SystemProcessRunner().run(command);
}

std::string Containers::image(const std::string& name, const std::vector<std::string>& more) {
  const fs::path layout = folder_ / ("layout-" + std::to_string(images_++));
  std::vector<std::string> make{
      "python3", SABATH_SOURCE_DIR "/tests/support/packages/make_image.py", layout.string()};
  make.insert(make.end(), more.begin(), more.end());
  const std::string reference = "127.0.0.1:" + std::to_string(port_) + "/" + name;
  for (const auto& argv : {make,
                           std::vector<std::string>{"skopeo",
                                                    "copy",
                                                    "--all",
                                                    "--preserve-digests",
                                                    "oci:" + layout.string(),
                                                    "docker://" + reference}}) {
    const auto result = run(argv);
    if (!result.ok()) throw std::runtime_error(argv.front() + ": " + result.errors);
  }
  return reference;
}

void Containers::start_docker() {
  const std::string folder = (folder_ / "docker").string();
  base::make_directories(folder);
  const std::string socket = "unix://" + folder + "/socket";
  const std::uint16_t port = unused_port();
  const std::string path = base::current_environment().at("PATH");
  docker_ =
      std::make_unique<Daemon>(std::vector<std::string>{SABATH_CONTAINER_ENGINES "/dockerd",
                                                        "--data-root",
                                                        folder + "/data",
                                                        "--exec-root",
                                                        folder + "/run",
                                                        "--pidfile",
                                                        folder + "/pid",
                                                        "--host",
                                                        socket,
                                                        "--experimental",
                                                        "--metrics-addr",
                                                        "127.0.0.1:" + std::to_string(port),
                                                        "--iptables=false",
                                                        "--ip6tables=false",
                                                        "--bridge=none",
                                                        "--default-ulimit",
                                                        "nofile=1000:1000"},
                               port,
                               base::Environment{{"PATH", SABATH_CONTAINER_ENGINES ":" + path}});
  variables_["DOCKER_HOST"] = socket;
  for (int i = 0; i < 600 && !run({"docker", "version"}).ok(); ++i)
    std::this_thread::sleep_for(std::chrono::milliseconds(100));
}

}  // namespace sabath::test
