// What it costs that HDF5 reads in a process apart.
//   reader_bench [TIMES [NAME]]      NAME: only files whose names contain it
// Each pair of files is compared in this process and with reader processes, in turn, each time by a
// program that is started for it. Exit status 1 where a median exceeds 1.05 of the other plus 30
// ms.
#include "arrays/hdf5/h5_id.hpp"
#include "arrays/reader/reader_client.hpp"
#include "compare/arrays/array_pair.hpp"

#include <sabath/arrays/reader_process.hpp>

#include <arrays/hdf5/hdf5_file.hpp>
#include <hdf5.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include <spawn.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

namespace {

namespace fs = std::filesystem;
using sabath::arrays::H5Id;

constexpr double most_share = 1.05;
constexpr double most_seconds_more = 0.030;
constexpr hsize_t values_in_large = hsize_t{1} << 23U;  // 64 MiB of float64

void write_numbers(hid_t parent, const std::string& name, hid_t type, hsize_t count, hid_t plan) {
  std::vector<double> values(count);
  for (hsize_t i = 0; i < count; ++i)
    values[i] = static_cast<double>(i) / 3;
  const H5Id space(H5Screate_simple(1, &count, nullptr), H5Sclose);
  const H5Id dataset(
      H5Dcreate2(parent, name.c_str(), type, space.get(), H5P_DEFAULT, plan, H5P_DEFAULT),
      H5Dclose);
  H5Dwrite(dataset.get(), H5T_NATIVE_DOUBLE, H5S_ALL, H5S_ALL, H5P_DEFAULT, values.data());
}

H5Id chunked(hsize_t values) {
  H5Id plan(H5Pcreate(H5P_DATASET_CREATE), H5Pclose);
  H5Pset_chunk(plan.get(), 1, &values);
  return plan;
}

void write_texts(hid_t parent, const std::string& name, hsize_t count) {
  const H5Id type(H5Tcopy(H5T_C_S1), H5Tclose);
  H5Tset_size(type.get(), H5T_VARIABLE);
  const std::vector<const char*> texts(count, "some words");
  const H5Id space(H5Screate_simple(1, &count, nullptr), H5Sclose);
  const H5Id dataset(
      H5Dcreate2(
          parent, name.c_str(), type.get(), space.get(), H5P_DEFAULT, H5P_DEFAULT, H5P_DEFAULT),
      H5Dclose);
  H5Dwrite(dataset.get(), type.get(), H5S_ALL, H5S_ALL, H5P_DEFAULT, texts.data());
}

void write_attribute(hid_t parent, const std::string& dataset, const char* name) {
  const H5Id space(H5Screate(H5S_SCALAR), H5Sclose);
  const H5Id owner(H5Oopen(parent, dataset.c_str(), H5P_DEFAULT), H5Oclose);
  const H5Id attribute(
      H5Acreate2(owner.get(), name, H5T_STD_I32LE, space.get(), H5P_DEFAULT, H5P_DEFAULT),
      H5Aclose);
  const int value = 7;
  H5Awrite(attribute.get(), H5T_NATIVE_INT, &value);
}

struct Kind {
  const char* name;
  std::function<void(hid_t)> write;
};

std::vector<Kind> kinds() {
  return {
      {"one array of 12 values",
       [](hid_t file) { write_numbers(file, "x", H5T_IEEE_F64LE, 12, H5P_DEFAULT); }},
      {"5,000 arrays of 3 values",
       [](hid_t file) {
         for (int i = 0; i < 5000; ++i)
           write_numbers(file, "x" + std::to_string(i), H5T_IEEE_F64LE, 3, H5P_DEFAULT);
       }},
      {"5,000 arrays of 3 values, packed, each with an attribute",
       [](hid_t file) {
         const H5Id plan = chunked(3);
         H5Pset_deflate(plan.get(), 1);
         for (int i = 0; i < 5000; ++i) {
           const std::string name = "x" + std::to_string(i);
           write_numbers(file, name, H5T_IEEE_F64LE, 3, plan.get());
           write_attribute(file, name, "n");
         }
       }},
      {"200 arrays of 5,000 values, big-endian",
       [](hid_t file) {
         for (int i = 0; i < 200; ++i)
           write_numbers(file, "x" + std::to_string(i), H5T_IEEE_F64BE, 5000, H5P_DEFAULT);
       }},
      {"64 MiB as they are",
       [](hid_t file) { write_numbers(file, "x", H5T_IEEE_F64LE, values_in_large, H5P_DEFAULT); }},
      {"64 MiB big-endian",
       [](hid_t file) { write_numbers(file, "x", H5T_IEEE_F64BE, values_in_large, H5P_DEFAULT); }},
      {"64 MiB in chunks, not packed",
       [](hid_t file) {
         write_numbers(file, "x", H5T_IEEE_F64LE, values_in_large, chunked(1U << 16U).get());
       }},
      {"64 MiB in chunks, packed",
       [](hid_t file) {
         const H5Id plan = chunked(1U << 16U);
         H5Pset_deflate(plan.get(), 1);
         write_numbers(file, "x", H5T_IEEE_F64LE, values_in_large, plan.get());
       }},
      {"200,000 texts of any length", [](hid_t file) { write_texts(file, "x", 200'000); }},
  };
}

int compare(std::string_view where, const fs::path& a, const fs::path& b) {
  const auto open = [&](const fs::path& path) {
    return where == "here" ? sabath::arrays::open_hdf5(path)
                           : sabath::arrays::open_hdf5_apart(path);
  };
  const auto of_a = open(a);
  const auto of_b = open(b);
  const auto findings = sabath::compare::compare_arrays("", *of_a, *of_b, {}, {});
  return findings.not_evaluated.empty() && !findings.items.empty() ? 0 : 1;
}

struct Cost {
  double wall = 0;
  double processor = 0;  ///< of the program and its reader processes
};

Cost cost_of(const std::string& program, const char* where, const fs::path& folder) {
  const std::string a = folder / "a.h5";
  const std::string b = folder / "b.h5";
  const std::array<const char*, 5> words{program.c_str(), where, a.c_str(), b.c_str(), nullptr};
  const auto begin = std::chrono::steady_clock::now();
  pid_t child = 0;
  int status = 0;
  rusage used{};
  if (::posix_spawn(&child,
                    program.c_str(),
                    nullptr,
                    nullptr,
                    const_cast<char* const*>(words.data()),
                    environ) != 0 ||
      ::wait4(child, &status, 0, &used) != child || status != 0) {
    std::fprintf(stderr, "reader_bench: the comparison failed\n");
    std::exit(2);
  }
  const auto seconds = [](const timeval& time) {
    return static_cast<double>(time.tv_sec) + 1e-6 * static_cast<double>(time.tv_usec);
  };
  return {std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count(),
          seconds(used.ru_utime) + seconds(used.ru_stime)};
}

double median_of(std::vector<Cost>& costs, double Cost::*member) {
  std::ranges::sort(costs, {}, member);
  return costs[costs.size() / 2].*member;
}

bool print_row(const Kind& kind, const std::string& program, const fs::path& folder, int times) {
  {
    const H5Id file(H5Fcreate((folder / "a.h5").c_str(), H5F_ACC_TRUNC, H5P_DEFAULT, H5P_DEFAULT),
                    H5Fclose);
    kind.write(file.get());
  }
  fs::copy_file(folder / "a.h5", folder / "b.h5", fs::copy_options::overwrite_existing);
  std::vector<Cost> here;
  std::vector<Cost> apart;
  for (int i = 0; i < times; ++i) {
    here.push_back(cost_of(program, "here", folder));
    apart.push_back(cost_of(program, "apart", folder));
  }
  const auto print = [&](const char* what, double Cost::*member) {
    const double in_process = median_of(here, member);
    const double in_another = median_of(apart, member);
    const bool fits = in_another <= most_share * in_process + most_seconds_more;
    std::printf("%-56s %-9s %7.1f (%7.1f)  %7.1f (%7.1f)  %5.2f  %+7.1f%s\n",
                kind.name,
                what,
                1e3 * in_process,
                1e3 * (here.front().*member),
                1e3 * in_another,
                1e3 * (apart.front().*member),
                in_another / in_process,
                1e3 * (in_another - in_process),
                fits ? "" : "  BEYOND");
    return fits;
  };
  print("processor", &Cost::processor);
  const bool fits = print("wall", &Cost::wall);
  std::fflush(stdout);
  return fits;
}

}  // namespace

int main(int count, char** words) {
  const std::string_view first = count > 1 ? words[1] : "";
  if (count == 3 && first == sabath::arrays::reader_command)
    std::_Exit(sabath::arrays::serve_arrays(words[2]));
  if (count == 4) return compare(first, words[2], words[3]);
  const int times = count > 1 ? std::atoi(words[1]) : 20;
  const std::string_view wanted = count > 2 ? words[2] : "";
  if (times < 1) return 2;
  const fs::path folder =
      fs::temp_directory_path() / ("reader_bench-" + std::to_string(::getpid()));
  fs::create_directories(folder);
  const std::string program = fs::read_symlink("/proc/self/exe");
  std::printf("ms, median of %d (least)\n%-66s %-18s %-18s %-6s %s\n",
              times,
              "two equal files of",
              "in this process",
              "reader processes",
              "ratio",
              "more");
  bool good = true;
  for (const Kind& kind : kinds()) {
    if (std::string_view(kind.name).find(wanted) != std::string_view::npos)
      good = print_row(kind, program, folder, times) && good;
  }
  fs::remove_all(folder);
  std::printf("%s 1.05 of the time in this process + 30 ms\n", good ? "all within" : "some beyond");
  return good ? 0 : 1;
}
