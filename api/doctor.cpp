// Each part is asked in the way that a run would use it.
#include "api/doctor.h"

#include <fmt/format.h>

#include "compiler/assembler/assemble.h"
#include "compiler/host/host_code.h"
#include "runtime/driver/driver.h"

namespace nereid::api {

std::vector<Finding> examine() {
  std::vector<Finding> out;
  auto bad = [&](const char* name, const Diag& d) { out.push_back({name, false, d.what, d.fix}); };
  if (auto driver = cuda::Driver::open(); driver) {
    out.push_back({"driver", true, "CUDA " + (*driver)->versionText(), ""});
    for (int i = 0; i < (*driver)->deviceCount(); i++) {
      const std::string name = fmt::format("cuda:{}", i);
      auto info = (*driver)->device(i);
      if (!info)
        bad(name.c_str(), info.diag());
      else if (info->target.empty())
        out.push_back({name, false, fmt::format("{}, compute capability {}: no target runs on it", info->name, info->capability),
                       "use --device cpu"});
      else
        out.push_back({name, true, fmt::format("{}, {} SMs, runs {}", info->name, info->sm_count, info->target), ""});
    }
  } else {
    bad("driver", driver.diag());
  }
  for (auto [name, route] :
       {std::pair{"nvJitLink", compiler::AssemblerRoute::kNvJitLink}, std::pair{"ptxas", compiler::AssemblerRoute::kPtxas}}) {
    compiler::AssembleOptions options;
    options.route = route;
    auto version = compiler::assemblerVersion(options);
    if (version)
      out.push_back({name, true, *version, ""});
    else
      bad(name, version.diag());
  }
  out.push_back({"cpu", true, compiler::hostCpuText().substr(0, 60), ""});
  return out;
}

}  // namespace nereid::api
