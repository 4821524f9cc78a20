#include "compiler/assembler/nvjitlink.h"

#include <dlfcn.h>
#include <fmt/format.h>

#include <map>
#include <mutex>

#include "compiler/assembler/assembler_log.h"
#include "compiler/assembler/cuda_home.h"

namespace nereid::compiler {
namespace {

constexpr int kInputPtx = 2;         // NVJITLINK_INPUT_PTX
constexpr int kErrorPtxCompile = 4;  // NVJITLINK_ERROR_PTX_COMPILE

const std::vector<std::string>& libraryNames() {
  static const std::vector<std::string> names = {"libnvJitLink.so.13", "libnvJitLink.so.12", "libnvJitLink.so"};
  return names;
}

constexpr const char* kInstall =
    "install it (pip install nvidia-nvjitlink, or a CUDA 13 toolkit), run scripts/setup, or point NEREID_CUDA_HOME at a toolkit";

// The newest versioned name that the library has, else the plain one.
void* findSymbol(void* library, const char* name, unsigned major, unsigned minor) {
  for (int m = static_cast<int>(minor); m >= 0 && major != 0; m--) {
    if (void* symbol = dlsym(library, fmt::format("__{}_{}_{}", name, major, m).c_str())) return symbol;
  }
  return dlsym(library, name);
}

Result<std::shared_ptr<const NvJitLink>> load(void* library, const std::string& path) {
  unsigned major = 0, minor = 0;
  auto version = reinterpret_cast<int (*)(unsigned*, unsigned*)>(dlsym(library, "nvJitLinkVersion"));
  if (version) version(&major, &minor);
  NvJitLinkSymbols symbols;
  std::string missing;
#define X(result, name, parameters)                                                                \
  symbols.name = reinterpret_cast<result(*) parameters>(findSymbol(library, #name, major, minor)); \
  if (!symbols.name) missing += std::string(missing.empty() ? "" : ", ") + #name;
#include "compiler/assembler/nvjitlink_symbols.def"
#undef X
  if (!missing.empty()) {
    return Diag{Code::kEnvironment, "libnvJitLink lacks the symbols " + missing, path,
                "it is older than CUDA 12.4: " + std::string(kInstall)};
  }
  return std::shared_ptr<const NvJitLink>(std::make_shared<NvJitLink>(symbols, fmt::format("nvJitLink {}.{}", major, minor)));
}

// Frees the link on every way out.
struct Link {
  const NvJitLinkSymbols& symbols;
  void* handle = nullptr;
  ~Link() {
    if (handle) symbols.nvJitLinkDestroy(&handle);
  }
  template <typename Size, typename Get>
  std::string text(Size size, Get get) const {
    size_t bytes = 0;
    if (size(handle, &bytes) != 0 || bytes == 0) return "";
    std::string text(bytes, '\0');
    if (get(handle, text.data()) != 0) return "";
    text.resize(text.find_last_not_of(std::string("\0\n ", 3)) + 1);
    return text;
  }
};

}  // namespace

Result<std::shared_ptr<const NvJitLink>> NvJitLink::open(const std::string& cuda_home) {
  static std::mutex mutex;
  static std::map<std::string, std::shared_ptr<const NvJitLink>> opened;
  std::string errors;
  for (const std::string& path : libraryCandidates(cuda_home, libraryNames())) {
    std::lock_guard lock(mutex);
    if (auto found = opened.find(path); found != opened.end()) return found->second;
    void* library = dlopen(path.c_str(), RTLD_NOW | RTLD_LOCAL);
    if (!library) {
      errors += (errors.empty() ? "" : "; ") + std::string(dlerror());
      continue;
    }
    NEREID_TRY(std::shared_ptr<const NvJitLink> link, load(library, path));
    return opened[path] = link;
  }
  std::string places = fmt::format("{}", fmt::join(cudaHomes(cuda_home), ", "));
  return Diag{Code::kEnvironment, "libnvJitLink.so.13 is missing" + (errors.empty() ? "" : ": " + errors),
              "looked in lib64 and lib of " + places, kInstall};
}

Result<Assembled> NvJitLink::assemble(const std::string& ptx, const Target& target) const {
  std::string arch = "-arch=" + target.name;
  const char* options[] = {arch.c_str(), "-verbose"};
  Link link{symbols_};
  if (int rc = symbols_.nvJitLinkCreate(&link.handle, std::size(options), options); rc != 0) {
    return Diag{Code::kEnvironment, fmt::format("{} does not accept {} (error {})", version_, target.name, rc), "nvJitLinkCreate",
                "install CUDA 13.0 or newer, which knows this target"};
  }
  int rc = symbols_.nvJitLinkAddData(link.handle, kInputPtx, ptx.data(), ptx.size(), "nereid.ptx");
  if (rc == 0) rc = symbols_.nvJitLinkComplete(link.handle);
  std::string log = link.text(symbols_.nvJitLinkGetInfoLogSize, symbols_.nvJitLinkGetInfoLog);
  if (rc != 0) {
    std::string errors = link.text(symbols_.nvJitLinkGetErrorLogSize, symbols_.nvJitLinkGetErrorLog);
    return rejectedPtx(version_, target, errors.empty() ? fmt::format("error {}", rc) : errors,
                       rc == kErrorPtxCompile ? "PTX" : "link");
  }
  size_t bytes = 0;
  Assembled result;
  rc = symbols_.nvJitLinkGetLinkedCubinSize(link.handle, &bytes);
  if (rc == 0) {
    result.cubin.resize(bytes);
    rc = symbols_.nvJitLinkGetLinkedCubin(link.handle, result.cubin.data());
  }
  if (rc != 0 || bytes == 0)
    return Diag{Code::kInternal, fmt::format("{} gave no cubin (error {})", version_, rc), "nvJitLinkGetLinkedCubin",
                "use ptxas"};
  result.resources = parseResources(log);
  result.assembler = version_;
  result.log = std::move(log);
  return result;
}

}  // namespace nereid::compiler
