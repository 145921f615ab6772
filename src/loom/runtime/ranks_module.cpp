// SPDX-License-Identifier: BSD-3-Clause
// dlopen of fiberloom_mpi_<vendor>.so.
#include "loom/runtime/ranks_module.hpp"

#include <dlfcn.h>

#include <filesystem>

#include "loom/base/error.hpp"

#define FIBERLOOM_TEXT_OF(name) #name
#define FIBERLOOM_TEXT(name) FIBERLOOM_TEXT_OF(name)

namespace loom {
namespace {

namespace fs = std::filesystem;

std::string program_folder() {
  std::error_code ignored;
  return fs::read_symlink("/proc/self/exe", ignored).parent_path().string();
}

/// The module's entry, or nullptr with the reason appended. Never unloaded: MPI leaves threads and
/// handlers behind. Global, because Open MPI's own plugins look for its symbols in the program.
OpenRanksFunction* load(const std::string& path, std::string& reasons) {
  void* const handle = ::dlopen(path.c_str(), RTLD_NOW | RTLD_GLOBAL);
  if (handle == nullptr) {
    const char* const why = ::dlerror();
    reasons += std::string("; ") + (why != nullptr ? why : path.c_str());
    return nullptr;
  }
  void* const entry = ::dlsym(handle, FIBERLOOM_TEXT(FIBERLOOM_RANKS_ENTRY));
  if (entry == nullptr) reasons += "; " + path + ": of another version of fiberloom";
  return reinterpret_cast<OpenRanksFunction*>(entry);
}

}  // namespace

std::vector<std::string> module_candidates(const std::string& vendor,
                                           const std::string& program_folder,
                                           const Environment& environment) {
  if (const auto path = environment("FIBERLOOM_MPI_MODULE"); path && !path->empty()) return {*path};
  const std::string name = "fiberloom_mpi_" + vendor + ".so";
  return {program_folder + "/" + name, program_folder + "/../lib/fiberloom/" + name};
}

std::unique_ptr<Ranks> open_ranks(const Launch& launch, const Environment& environment) {
  std::string reasons;
  for (const std::string& vendor : launch.vendors) {
    for (const std::string& path : module_candidates(vendor, program_folder(), environment)) {
      std::error_code ignored;
      if (!fs::exists(path, ignored)) {
        reasons += "; no " + path;
        continue;
      }
      OpenRanksFunction* const open = load(path, reasons);
      if (open == nullptr) continue;
      std::unique_ptr<Ranks> ranks(open());
      if (launch.size > 0 && ranks->size() != launch.size) {
        const std::string found = std::to_string(ranks->size());
        ranks->finish();
        throw Error(Status::kUnsupported,
                    launch.launcher + " started " + std::to_string(launch.size) + " processes, " +
                        path + " sees " + found + ": name the right MPI with --mpi openmpi|mpich");
      }
      return ranks;
    }
  }
  throw Error(Status::kUnsupported,
              "started by " + launch.launcher +
                  ", but no MPI module can be loaded (--mpi off: do without)" + reasons);
}

}  // namespace loom
