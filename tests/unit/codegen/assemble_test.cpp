// PTX to cubin by each route, what is reported, and what happens where something is missing or broken.
#include "compiler/assembler/assemble.h"

#include <doctest/doctest.h>
#include <fmt/format.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>

#include "compiler/assembler/assembler_log.h"
#include "compiler/assembler/cuda_home.h"
#include "compiler/assembler/nvjitlink.h"
#include "compiler/assembler/ptxas.h"
#include "runtime/spec/target.h"

using namespace nereid;
using namespace nereid::compiler;
namespace fs = std::filesystem;

namespace {

std::string header(const Target& target) {
  return fmt::format(".version {}.{}\n.target {}\n.address_size 64\n", target.ptx_version / 10, target.ptx_version % 10,
                     target.name);
}

// Doubles one float; uses 256 bytes of static shared memory.
std::string kernelPtx(const Target& target) {
  return header(target) + R"(
.visible .entry twice(.param .u64 p) .maxntid 64 {
  .reg .b64 %rd<3>; .reg .f32 %f<3>; .shared .align 16 .b8 s[256];
  ld.param.u64 %rd1, [p];
  cvta.to.global.u64 %rd2, %rd1;
  ld.global.f32 %f1, [%rd2];
  st.shared.f32 [s], %f1;
  bar.sync 0;
  ld.shared.f32 %f2, [s];
  add.f32 %f2, %f2, %f1;
  st.global.f32 [%rd2], %f2;
  ret;
}
)";
}

std::vector<Target> gpuTargets() {
  std::vector<Target> targets;
  for (const Target& target : allTargets()) {
    if (target.isGpu()) targets.push_back(target);
  }
  return targets;
}

bool contains(const std::string& text, const std::string& part) { return text.find(part) != std::string::npos; }

// A folder that goes with the test.
struct Folder {
  fs::path path;
  Folder() {
    std::string pattern = (fs::temp_directory_path() / "nereid-assemble-XXXXXX").string();
    path = mkdtemp(pattern.data());
  }
  ~Folder() { fs::remove_all(path); }
};

struct Variable {
  explicit Variable(const std::string& value) { setenv("NEREID_CUDA_HOME", value.c_str(), 1); }
  ~Variable() { unsetenv("NEREID_CUDA_HOME"); }
};

}  // namespace

TEST_CASE("both routes assemble for each target and report the same resources") {
  for (const Target& target : gpuTargets()) {
    INFO(target.name);
    std::map<AssemblerRoute, Assembled> by_route;
    for (AssemblerRoute route : {AssemblerRoute::kNvJitLink, AssemblerRoute::kPtxas}) {
      Result<Assembled> result = assemble(kernelPtx(target), target, {.route = route});
      INFO((result ? "" : result.diag().text()));
      REQUIRE(result);
      CHECK(std::string(result->cubin.begin() + 1, result->cubin.begin() + 4) == "ELF");
      CHECK(result->resources.registers > 0);
      CHECK(result->resources.spill_bytes == 0);
      CHECK(result->resources.stack_bytes == 0);
      CHECK(result->resources.shared_bytes == 256);
      CHECK(result->resources.instructions.at("bar") == 1);
      by_route[route] = *result;
    }
    const Assembled& linked = by_route[AssemblerRoute::kNvJitLink];
    const Assembled& program = by_route[AssemblerRoute::kPtxas];
    CHECK(linked.resources.registers == program.resources.registers);
    CHECK(linked.resources.shared_bytes == program.resources.shared_bytes);
    CHECK(linked.assembler.rfind("nvJitLink 1", 0) == 0);
    CHECK(program.assembler.rfind("ptxas 1", 0) == 0);
  }
}

TEST_CASE("broken PTX is an error with the assembler's log") {
  Target target = *findTarget("sm_90a");
  std::string broken = header(target) + ".visible .entry k() { no.such.instruction %r1, %r2; ret; }\n";
  for (AssemblerRoute route : {AssemblerRoute::kNvJitLink, AssemblerRoute::kPtxas}) {
    Result<Assembled> result = assemble(broken, target, {.route = route});
    REQUIRE_FALSE(result);
    CHECK(result.diag().code == Code::kInternal);
    CHECK_MESSAGE(contains(result.diag().what, "Not a name of any known instruction: 'no'"), result.diag().text());
    CHECK(contains(result.diag().what, "sm_90a"));
  }
}

TEST_CASE("a PTX version that the assembler does not know is named") {
  Target target = *findTarget("sm_90a");
  std::string text = kernelPtx(target);
  text.replace(text.find(".version"), 12, ".version 99.9");
  Result<Assembled> result = assemble(text, target);
  REQUIRE_FALSE(result);
  CHECK_MESSAGE(contains(result.diag().what, "99.9"), result.diag().text());
}

TEST_CASE("nothing found: the error names what is missing, where it was sought and what to install") {
  Folder empty;
  Result<Assembled> result = assemble(kernelPtx(*findTarget("sm_80")), *findTarget("sm_80"), {.cuda_home = empty.path.string()});
  REQUIRE_FALSE(result);
  CHECK(result.diag().code == Code::kEnvironment);
  CHECK(contains(result.diag().what, "libnvJitLink.so.13 is missing"));
  CHECK(contains(result.diag().what, "ptxas is missing"));
  CHECK(contains(result.diag().where, empty.path.string()));
  CHECK(contains(result.diag().fix, "nvidia-cuda-nvcc"));

  Variable variable(empty.path.string());
  CHECK(assemble("", *findTarget("sm_80")).diag().code == Code::kEnvironment);
  CHECK_FALSE(assemblerVersion());
}

TEST_CASE("without nvJitLink ptxas serves, without both the caller's linker") {
  Target target = *findTarget("sm_80");
  Result<std::string> ptxas = findPtxas("");
  REQUIRE(ptxas);
  Folder folder;
  fs::create_directory(folder.path / "bin");
  fs::create_symlink(*ptxas, folder.path / "bin" / "ptxas");
  AssembleOptions options{.cuda_home = folder.path.string()};
  Result<Assembled> result = assemble(kernelPtx(target), target, options);
  INFO((result ? "" : result.diag().text()));
  REQUIRE(result);
  CHECK(result->assembler.rfind("ptxas", 0) == 0);
  CHECK(assemblerVersion(options)->rfind("ptxas", 0) == 0);

  fs::remove_all(folder.path / "bin");
  options.driver = [](const std::string& ptx, const Target&) -> Result<Assembled> {
    Assembled made;
    made.cubin.assign(ptx.begin(), ptx.begin() + 4);
    made.assembler = "driver 580";
    return made;
  };
  result = assemble(kernelPtx(target), target, options);
  REQUIRE(result);
  CHECK(result->assembler == "driver 580");
  CHECK(result->resources.instructions.at("st.global") == 1);
}

TEST_CASE("a library without the symbols is refused by their names") {
  Folder folder;
  fs::create_directory(folder.path / "lib");
  fs::create_symlink("libm.so.6", folder.path / "lib" / "libnvJitLink.so.13");
  for (const char* place : {"/lib/x86_64-linux-gnu/libm.so.6", "/lib/aarch64-linux-gnu/libm.so.6", "/lib64/libm.so.6"}) {
    if (!fs::exists(place)) continue;
    fs::remove(folder.path / "lib" / "libnvJitLink.so.13");
    fs::create_symlink(place, folder.path / "lib" / "libnvJitLink.so.13");
    break;
  }
  Result<std::shared_ptr<const NvJitLink>> library = NvJitLink::open(folder.path.string());
  REQUIRE_FALSE(library);
  CHECK(library.diag().code == Code::kEnvironment);
  CHECK_MESSAGE(contains(library.diag().what, "nvJitLinkCreate"), library.diag().text());
}

TEST_CASE("ptxas leaves no temporary files, also where it fails") {
  Folder folder;
  setenv("TMPDIR", folder.path.c_str(), 1);
  Target target = *findTarget("sm_80");
  CHECK(assemble(kernelPtx(target), target, {.route = AssemblerRoute::kPtxas}));
  CHECK_FALSE(assemble("rubbish", target, {.route = AssemblerRoute::kPtxas}));
  CHECK(fs::is_empty(folder.path));
  setenv("TMPDIR", (folder.path / "absent").c_str(), 1);
  Result<Assembled> result = assemble(kernelPtx(target), target, {.route = AssemblerRoute::kPtxas});
  unsetenv("TMPDIR");
  CHECK(result);  // a TMPDIR that is no folder gives way to /tmp
}

TEST_CASE("the log is read") {
  const char* log =
      "ptxas info    : 0 bytes gmem\n"
      "ptxas info    : Compiling entry function 'a' for 'sm_90a'\n"
      "ptxas info    : Function properties for a\n"
      "    16 bytes stack frame, 24 bytes spill stores, 8 bytes spill loads\n"
      "ptxas info    : Used 168 registers, used 3 barriers, 16 bytes cumulative stack size, 2048 bytes smem\n"
      "ptxas info    : Compiling entry function 'b' for 'sm_90a'\n"
      "    0 bytes stack frame, 0 bytes spill stores, 0 bytes spill loads\n"
      "ptxas info    : Used 12 registers\n"
      "ptxas warning : (C7506) Potential Performance Loss: 'setmaxnreg' ignored\n"
      "info    : used 168 registers, used 3 barriers, 16 stack, 3072 bytes smem, 0 bytes lmem\n";
  CHECK(parseWarnings(log).size() == 1);
  Resources resources = parseResources(log);
  CHECK(resources.registers == 168);
  CHECK(resources.spill_bytes == 32);
  CHECK(resources.stack_bytes == 16);
  CHECK(resources.shared_bytes == 2048);
  CHECK(parseResources("").registers == -1);
  CHECK(parseResources("Used 8 registers").shared_bytes == 0);
}

TEST_CASE("instructions are counted by class") {
  const char* ptx =
      "// mma.sync in a comment\n"
      "\tmma.sync.aligned.m16n8k16.row.col.f32.bf16.bf16.f32 {%f1}, {%r1};\n"
      "\tldmatrix.sync.aligned.m8n8.x4.shared.b16 {%r1}, [%r2];\n"
      "@%p1 cp.async.cg.shared.global [%r1], [%rd1], 16;\n"
      "\tcp.async.commit_group;\n\tcp.async.wait_group 1;\n"
      "\tcp.async.bulk.shared::cta.global.mbarrier::complete_tx::bytes [%r1], [%rd1], %r2, [%r3];\n"
      "\tcp.async.bulk.commit_group;\n"
      "\tmbarrier.try_wait.parity.shared.b64 %p1, [%r1], %r2; @%p1 bra L;\n"
      "\tcvt.rn.f16x2.e4m3x2 %r1, %rs1;\n\tcvt.rn.satfinite.e4m3x2.f32 %rs1, %f1, %f2;\n\tcvt.rn.bf16x2.f32 %r1, %f1, %f2;\n"
      "\tld.global.nc.v4.b32 {%r1}, [%rd1];\n\tst.shared.b32 [%r1], %r2;\n\tbar.sync \t0;\n\tbarrier.sync 1, "
      "64;\n\tex2.approx.ftz.f32 %f1, %f2;\n";
  std::map<std::string, int> counts = countInstructions(ptx);
  CHECK(counts == std::map<std::string, int>{{"mma", 1},
                                             {"ldmatrix", 1},
                                             {"cp.async", 1},
                                             {"cp.async.bulk", 1},
                                             {"mbarrier", 1},
                                             {"cvt.e4m3", 2},
                                             {"ld.global", 1},
                                             {"st.shared", 1},
                                             {"bar", 2},
                                             {"ex2", 1}});
}
