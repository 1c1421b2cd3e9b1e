#include "wrong_sources.hpp"

#include "source_url.hpp"

#include <sabath/base/text/pieces.hpp>

#include <algorithm>
#include <utility>

namespace sabath::fetch {

namespace {

bool contains(const std::vector<std::string>& all, const std::string& one) {
  return std::ranges::find(all, one) != all.end();
}

/// Returns the sources of the present bytes, by the URLs in the partial file.
std::vector<std::string> givers_of(const base::PartialFile& file) {
  std::vector<std::string> givers;
  for (const base::SourcedRange& part : file.present()) {
    if (part.source >= file.sources().size()) continue;
    const std::string& url = file.sources()[part.source].url;
    if (!contains(givers, url)) givers.push_back(url);
  }
  return givers;
}

void drop_bytes_of(const std::string& source, base::PartialFile& file) {
  for (const base::SourcedRange& part : file.present()) {
    const bool is_known = part.source < file.sources().size();
    if (is_known && file.sources()[part.source].url == source) file.drop(part.range);
  }
}

/// As the standards write it.
std::string_view published_name(base::DigestAlgorithm algorithm) {
  switch (algorithm) {
    case base::DigestAlgorithm::sha256:
      return "SHA-256";
    case base::DigestAlgorithm::sha512:
      return "SHA-512";
    case base::DigestAlgorithm::sha1:
      return "SHA-1";
    case base::DigestAlgorithm::md5:
      return "MD5";
  }
  return "digest";
}

}  // namespace

std::vector<std::string> WrongSources::trusted() const {
  std::vector<std::string> urls;
  for (const std::string& url : urls_) {
    const std::string name = name_among(urls_, url);
    if (!contains(wrong_, name) && !contains(suspects_, name)) urls.push_back(url);
  }
  return urls;
}

void WrongSources::find_guilty(const std::string& source, base::Observer& observer) {
  wrong_.push_back(source);
  observer.warn(source + ": served corrupt data (digest mismatch)", "fix or remove this source");
}

std::vector<std::string> WrongSources::next(base::PartialFile& to, base::Observer& observer) {
  if (!left_by_others_.empty()) {
    for (const base::SourcedRange& part : std::exchange(left_by_others_, {}))
      to.drop(part.range);
    return trusted();
  }
  const std::vector<std::string> givers = givers_of(to);
  if (givers.size() <= 1) {
    // All bytes are of one source, and they are wrong.
    if (!givers.empty()) find_guilty(givers.front(), observer);
    suspects_.clear();
    to.restart();
    return givers.empty() ? std::vector<std::string>() : trusted();
  }
  // A source that is not in the document is of an earlier attempt: it goes first.
  std::string suspect = givers.front();
  std::ptrdiff_t latest = -1;
  for (const std::string& giver : givers) {
    const auto place = std::ranges::find_if(
        urls_, [&](const std::string& url) { return name_among(urls_, url) == giver; });
    const std::ptrdiff_t rank = place - urls_.begin();
    if (rank > latest && !contains(suspects_, giver)) {
      latest = rank;
      suspect = giver;
    }
  }
  suspects_.push_back(suspect);
  drop_bytes_of(suspect, to);
  auto others = trusted();
  return others.empty() ? next(to, observer) : others;
}

void WrongSources::settle(base::Observer& observer) {
  if (!suspects_.empty()) find_guilty(suspects_.back(), observer);
  suspects_.clear();
}

std::string WrongSources::places(const std::string& url) const {
  return wrong_.empty() ? displayed_url(url) : base::joined(wrong_, ", ");
}

std::string digest_mismatch(const std::vector<base::Digest>& expected,
                            const std::vector<base::Digest>& actual) {
  std::string text;
  for (const base::Digest& wanted : expected) {
    for (const base::Digest& digest : actual) {
      if (digest.algorithm != wanted.algorithm || digest == wanted) continue;
      text += (text.empty() ? "" : "; ") + std::string(published_name(wanted.algorithm)) +
              " mismatch: expected " + wanted.text() + ", got " + digest.text();
    }
  }
  return text.empty() ? "digest mismatch" : text;
}

}  // namespace sabath::fetch
