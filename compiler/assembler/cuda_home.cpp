#include "compiler/assembler/cuda_home.h"

#include <dlfcn.h>
#include <unistd.h>

#include <cstdlib>
#include <filesystem>
#include <sstream>

namespace nereid::compiler {
namespace {

namespace fs = std::filesystem;

std::string chosenHome(const std::string& option) {
  if (!option.empty()) return option;
  const char* variable = std::getenv("NEREID_CUDA_HOME");
  return variable ? variable : "";
}

// The file that this code was loaded from: the executable, or the shared library it is linked into.
fs::path ownFile() {
  Dl_info info;
  std::error_code error;
  if (dladdr(reinterpret_cast<void*>(&ownFile), &info) && info.dli_fname && fs::path(info.dli_fname).is_absolute())
    return info.dli_fname;
  return fs::read_symlink("/proc/self/exe", error);
}

}  // namespace

bool isChosenCudaHome(const std::string& option) { return !chosenHome(option).empty(); }

std::vector<std::string> cudaHomes(const std::string& option) {
  if (std::string chosen = chosenHome(option); !chosen.empty()) return {chosen};
  std::vector<std::string> homes;
  fs::path folder = ownFile().parent_path();
  fs::path above = folder.parent_path();
  for (const fs::path& home : {folder / "cuda", above / "cuda", above.parent_path() / "cuda"}) {
    std::error_code error;
    if (!folder.empty() && fs::is_directory(home, error)) homes.push_back(home.string());
  }
  homes.push_back("/usr/local/cuda");
  return homes;
}

std::vector<std::string> libraryCandidates(const std::string& option, const std::vector<std::string>& names) {
  std::vector<std::string> candidates;
  for (const std::string& home : cudaHomes(option)) {
    for (const char* folder : {"lib64", "lib"}) {
      for (const std::string& name : names) {
        fs::path path = fs::path(home) / folder / name;
        std::error_code error;
        if (fs::exists(path, error)) candidates.push_back(path.string());
      }
    }
  }
  if (!isChosenCudaHome(option)) candidates.insert(candidates.end(), names.begin(), names.end());
  return candidates;
}

std::string findProgram(const std::string& option, const std::string& name) {
  std::vector<std::string> folders;
  for (const std::string& home : cudaHomes(option)) folders.push_back(home + "/bin");
  if (!isChosenCudaHome(option)) {
    const char* path = std::getenv("PATH");
    std::istringstream stream(path ? path : "");
    for (std::string folder; std::getline(stream, folder, ':');) folders.push_back(folder);
  }
  for (const std::string& folder : folders) {
    std::string candidate = folder + "/" + name;
    std::error_code error;
    if (access(candidate.c_str(), X_OK) == 0 && fs::is_regular_file(candidate, error)) return candidate;
  }
  return "";
}

}  // namespace nereid::compiler
