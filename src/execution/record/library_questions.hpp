#pragma once

#include <sabath/base/process/process.hpp>
#include <sabath/base/text/text_memo.hpp>
#include <sabath/probe/library_versions.hpp>
#include <sabath/spec/host_facts.hpp>
#include <sabath/spec/software.hpp>

#include <filesystem>
#include <map>
#include <stop_token>
#include <string>
#include <vector>

namespace sabath::execution {

/// Asks libraries for their versions, each in a process of its own. The process has the environment
/// that the library was loaded in, without its preloads, and the affinity of this one. Keeps
/// answers in `state`/library-versions by all that they depend on: the library's bytes, the
/// processor, the number of usable threads, and variables of libraries.
class LibraryQuestions {
 public:
  LibraryQuestions(base::ProcessRunner& processes,
                   std::filesystem::path program,
                   const spec::CpuFacts& cpu,
                   const std::filesystem::path& state,
                   std::stop_token stop);
  ~LibraryQuestions();
  LibraryQuestions(const LibraryQuestions&) = delete;
  LibraryQuestions& operator=(const LibraryQuestions&) = delete;

  /// Failures are notes, earlier ones too. A library is not asked again only where the loader found
  /// it wrong itself.
  probe::LibraryAnswer ask(const spec::LoadedLibrary& library,
                           base::Environment environment,
                           std::vector<std::string>& notes);

 private:
  std::string key_of(const spec::LoadedLibrary& library,
                     const base::Environment& environment) const;
  std::string answer_to(const std::string& key,
                        const spec::LoadedLibrary& library,
                        const base::Environment& environment);
  std::string ask_now(const spec::LoadedLibrary& library, const base::Environment& environment);

  base::ProcessRunner& processes_;
  std::filesystem::path program_;
  std::string processor_;
  base::TextMemo memo_;
  std::map<std::string, std::string> answers_{};  ///< by key, since this began
  std::stop_token stop_;
};

}  // namespace sabath::execution
