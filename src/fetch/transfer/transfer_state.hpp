#pragma once

#include "coverage.hpp"
#include "mirror.hpp"
#include "reachability.hpp"
#include "transfer_loop.hpp"
#include "worker.hpp"

#include <sabath/base/observer.hpp>
#include <sabath/base/partial_file.hpp>
#include <sabath/fetch/fetcher.hpp>

#include <cstdint>
#include <list>
#include <memory>
#include <optional>
#include <stop_token>
#include <vector>

namespace sabath::fetch {

/// Surroundings of a transfer. All references outlive it.
struct TransferTools {
  TransferLoop& loop;
  Reachability& reachability;
  const EngineOptions& options;
  base::Clock& clock;
  base::Observer& observer;
  std::stop_token stop{};
};

/// One file during its transfer: its sources, its connections, and the bytes that are present.
/// The parts of a FileTransfer share it.
struct TransferState {
  TransferState(TransferTools its_tools, const Request& its_request, base::PartialFile& file)
      : tools(std::move(its_tools)), request(its_request), to(file) {}
  /// Ends all connections.
  ~TransferState();
  TransferState(const TransferState&) = delete;
  TransferState& operator=(const TransferState&) = delete;

  /// Does a digest prove the file when it is complete?
  bool is_proved_later() const { return !request.digests.empty(); }
  bool is_complete() const { return size && there.bytes() == *size; }
  std::optional<std::uint64_t> known_size() const { return size ? size : request.size_bytes; }
  bool has_live_mirror() const;
  std::vector<Worker*> active_workers() const;
  unsigned active_on(const Host& host) const;

  void read_present();
  void learn_size(std::uint64_t size_bytes);
  /// Drops all bytes, of all sources.
  void start_over();
  /// Drops the bytes of a source whose file has changed.
  void forget_version(Mirror& mirror);
  /// Cancels the connections of a source, or of all sources, but for one.
  void cancel_all(const Mirror* mirror, const Worker* except = nullptr);
  void release(Worker& worker);

  TransferTools tools;
  const Request& request;
  base::PartialFile& to;
  Coverage there{};
  std::optional<std::uint64_t> size{};
  std::list<Host> hosts{};
  std::list<Mirror> mirrors{};
  std::vector<std::unique_ptr<Worker>> workers{};
  std::uint64_t transferred = 0;
};

}  // namespace sabath::fetch
