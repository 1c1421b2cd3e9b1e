#include "process_stat.hpp"

#include "fact_file.hpp"

#include <array>
#include <sstream>

namespace sabath::probe {

std::optional<ProcessStat> read_process_stat(const std::filesystem::path& proc, int pid) {
  const auto text = read_fact(proc / std::to_string(pid) / "stat");
  if (!text) return std::nullopt;
  // The program's name stands in parentheses and may hold anything, parentheses too.
  const auto name_end = text->rfind(')');
  if (name_end == std::string::npos) return std::nullopt;
  std::istringstream fields(text->substr(name_end + 1));
  ProcessStat stat;
  fields >> stat.state >> stat.parent;      // fields 3 and 4
  std::array<std::uint64_t, 20> numbers{};  // fields 5 to 24; some are signed, none of those used
  for (auto& number : numbers) {
    std::string field;
    if (!(fields >> field)) return std::nullopt;
    number = parse_number(field).value_or(0);
  }
  const auto field = [&numbers](std::size_t position) { return numbers.at(position - 5); };
  stat.cpu_ticks = field(14) + field(15) + field(16) + field(17);
  stat.threads = static_cast<int>(field(20));
  stat.start_ticks = field(22);
  stat.resident_pages = field(24);
  return stat;
}

}  // namespace sabath::probe
