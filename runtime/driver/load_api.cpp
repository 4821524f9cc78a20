// Opens libcuda.so.1 and fills the table from the list of symbols.
#include <dlfcn.h>
#include <fmt/format.h>

#include "runtime/driver/driver.h"

namespace nereid::cuda {

Result<Api> loadApi(const std::string& library) {
  void* handle = dlopen(library.c_str(), RTLD_NOW | RTLD_LOCAL);
  if (!handle) {
    const char* reason = dlerror();
    return Diag{Code::kEnvironment, "the CUDA driver library cannot be opened", reason ? reason : library,
                "install NVIDIA's driver (it brings libcuda.so.1; in a container, start it with the GPU's libraries), or use the "
                "cpu target"};
  }
  Api api;
  std::string missing;
  auto find = [&](const char* symbol) {
    void* address = dlsym(handle, symbol);
    if (!address) missing += (missing.empty() ? "" : ", ") + std::string(symbol);
    return address;
  };
#define NEREID_CUDA_FIND(field, symbol, parameters) api.field = reinterpret_cast<decltype(api.field)>(find(#symbol));
  NEREID_CUDA_SYMBOLS(NEREID_CUDA_FIND)
#undef NEREID_CUDA_FIND
  if (!missing.empty())
    return Diag{Code::kEnvironment, fmt::format("the CUDA driver lacks {}", missing), library,
                "install a driver of CUDA 12.0 or later"};
  return api;
}

}  // namespace nereid::cuda
