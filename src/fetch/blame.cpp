#include "blame.hpp"

#include "source_url.hpp"

#include <algorithm>
#include <utility>

namespace sabath::fetch {

namespace {

bool contains(const std::vector<std::string>& all, const std::string& one) {
  return std::find(all.begin(), all.end(), one) != all.end();
}

/// Who gave bytes of the file as it is, by the URLs they are kept under.
std::vector<std::string> givers_of(const base::StagedFile& file) {
  std::vector<std::string> givers;
  for (const base::SourcedRange& part : file.present()) {
    if (part.source >= file.sources().size()) continue;
    const std::string& url = file.sources()[part.source].url;
    if (!contains(givers, url)) givers.push_back(url);
  }
  return givers;
}

void drop_bytes_of(const std::string& source, base::StagedFile& file) {
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

std::vector<std::string> Blame::trusted() const {
  std::vector<std::string> urls;
  for (const std::string& url : urls_) {
    const std::string name = name_among(urls_, url);
    if (!contains(wrong_, name) && !contains(suspects_, name)) urls.push_back(url);
  }
  return urls;
}

void Blame::find_guilty(const std::string& source, base::Observer& observer) {
  wrong_.push_back(source);
  observer.warn(source + ": served corrupt data (digest mismatch)", "fix or remove this source");
}

std::vector<std::string> Blame::next(base::StagedFile& to, base::Observer& observer) {
  if (!left_by_others_.empty()) {
    for (const base::SourcedRange& part : std::exchange(left_by_others_, {}))
      to.drop(part.range);
    return trusted();
  }
  const std::vector<std::string> givers = givers_of(to);
  if (givers.size() <= 1) {
    // Whatever was suspected before, these bytes are one source's and they are wrong.
    if (!givers.empty()) find_guilty(givers.front(), observer);
    suspects_.clear();
    to.restart();
    return givers.empty() ? std::vector<std::string>() : trusted();
  }
  // What is not in the document was left by an earlier attempt: the first to go.
  std::string suspect = givers.front();
  std::ptrdiff_t latest = -1;
  for (const std::string& giver : givers) {
    const auto place = std::find_if(urls_.begin(), urls_.end(), [&](const std::string& url) {
      return name_among(urls_, url) == giver;
    });
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

void Blame::settle(base::Observer& observer) {
  if (!suspects_.empty()) find_guilty(suspects_.back(), observer);
  suspects_.clear();
}

std::string Blame::places(const std::string& url) const {
  std::string places;
  for (const std::string& source : wrong_)
    places += (places.empty() ? "" : ", ") + source;
  return places.empty() ? displayed_url(url) : places;
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
