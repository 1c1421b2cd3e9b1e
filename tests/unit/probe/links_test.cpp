#include "probe/probes.hpp"
#include "support/fake_host.hpp"

#include <catch2/catch.hpp>

using namespace sabath;
using sabath::test::FakeHost;

namespace {

using Devices = std::vector<spec::DeviceFacts>;

Devices look_at(FakeHost& host, Devices devices) {
  base::SystemProcessRunner processes;
  spec::HostFacts facts;
  facts.devices = std::move(devices);
  probe::probe_links(host.sources(), processes, facts);
  return facts.devices;
}

void put_driver(const FakeHost& host, const std::string& device, const std::string& driver) {
  base::make_directories(host.root() / device / "device");
  std::filesystem::create_symlink("../../../bus/pci/drivers/" + driver,
                                  host.root() / device / "device/driver");
}

}  // namespace

TEST_CASE("links: a network device tells state, speed and driver, one that is down no speed") {
  FakeHost host;
  host.put("sys/class/net/eth0/operstate", "up\n");
  host.put("sys/class/net/eth0/speed", "25000\n");
  put_driver(host, "sys/class/net/eth0", "mlx5_core");
  host.put("sys/class/net/eth1/operstate", "down\n");
  host.put("sys/class/net/eth1/speed", "-1\n");
  const auto devices =
      look_at(host, {{"network", "eth0", "X"}, {"network", "eth1", ""}, {"storage", "sda", ""}});
  CHECK(devices == Devices{{"network", "eth0", "X", "up", 25000, "mlx5_core"},
                           {"network", "eth1", "", "down", std::nullopt, std::nullopt},
                           {"storage", "sda", ""}});
}

TEST_CASE("links: a fabric with one port tells that port's state, rate and driver") {
  FakeHost host;
  const std::string device = "sys/class/infiniband/mlx5_0";
  put_driver(host, device, "mlx5_core");
  host.put(device + "/ports/1/state", "4: ACTIVE\n");
  host.put(device + "/ports/1/phys_state", "5: LinkUp\n");
  host.put(device + "/ports/1/rate", "200 Gb/sec (4X HDR)\n");
  CHECK(look_at(host, {{"openfabrics", "mlx5_0", "ConnectX-6"}}) ==
        Devices{{"openfabrics", "mlx5_0", "ConnectX-6", "active", 200000, "mlx5_core"}});
}

TEST_CASE("links: of a fabric with two ports each is told, and why one is not active") {
  FakeHost host;
  const std::string device = "sys/class/infiniband/mlx4_0";
  host.put(device + "/ports/1/state", "4: ACTIVE\n");
  host.put(device + "/ports/1/rate", "2.5 Gb/sec (1X SDR)\n");
  host.put(device + "/ports/2/state", "1: DOWN\n");
  host.put(device + "/ports/2/phys_state", "2: Polling\n");
  CHECK(look_at(host, {}) ==
        Devices{{"openfabrics", "mlx4_0", ""},
                {"openfabrics", "mlx4_0/1", "", "active", 2500, std::nullopt},
                {"openfabrics", "mlx4_0/2", "", "down (polling)", std::nullopt, std::nullopt}});
}

TEST_CASE("links: states are looked at each time, models are kept until the next boot") {
  FakeHost host;
  base::SystemProcessRunner processes;
  base::SystemClock clock;
  const auto state_of_eth0 = [&] {
    const auto facts = probe::probe_host(host.sources(), host.state(), processes, clock);
    for (const auto& device : facts.devices) {
      if (device.name == "eth0") return device.state.value_or("unknown");
    }
    return std::string("not there");
  };
  host.put("sys/class/net/eth0/operstate", "up\n");
  CHECK(state_of_eth0() == "up");
  host.put("sys/class/net/eth0/operstate", "down\n");
  CHECK(state_of_eth0() == "down");
}
