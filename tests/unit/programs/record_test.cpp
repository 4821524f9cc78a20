// Every program records and passes the verifier; arguments, tiles and grids agree with it.
#include <set>

#include "kernels_dsl/spec/launch/grid.h"
#include "tests/unit/programs/specs.h"

namespace nereid::kernels::test {
namespace {

int countOf(const std::string& text, const std::string& word) {
  int n = 0;
  for (size_t at = text.find(word); at != std::string::npos; at = text.find(word, at + word.size())) n++;
  return n;
}

std::string textOf(const KernelSpec& spec) {
  auto program = buildProgram(spec);
  REQUIRE_MESSAGE(program.ok(), (program.ok() ? "" : program.diag().text()));
  return program->text();
}

std::set<std::string> argNames(const KernelSpec& spec) {
  auto problem = parseProblem(spec.kernel, spec.problem);
  REQUIRE(problem.ok());
  auto args = kernelArgs(*problem, spec.schedule);
  REQUIRE(args.ok());
  std::set<std::string> names;
  for (const Arg& a : *args) CHECK(names.insert(a.name).second);
  return names;
}

TEST_CASE("every spec records a program that the verifier accepts") {
  for (const NamedSpec& s : allSpecs()) {
    CAPTURE(s.kernel);
    CAPTURE(s.fields);
    auto program = buildProgram(specOf(s.kernel, s.fields, s.schedule));
    CHECK_MESSAGE(program.ok(), (program.ok() ? "" : program.diag().text()));
  }
}

TEST_CASE("recording is a function of the spec") {
  const KernelSpec spec = specOf("sparse_decode", "layout=MODEL1 page_size=64 topk=512 heads=64");
  CHECK(textOf(spec) == textOf(spec));
}

TEST_CASE("sparse_decode has one product a cell and side") {
  const std::string model1 = textOf(specOf("sparse_decode", "layout=MODEL1 page_size=64 topk=512 heads=64"));
  CHECK(countOf(model1, "tile.dot \"qk\"") == 8);
  CHECK(countOf(model1, "tile.dot \"pv") == 8);
  const std::string v32 = textOf(specOf("sparse_decode", "layout=V32 page_size=64 topk=512 heads=64"));
  CHECK(countOf(v32, "tile.dot \"qk\"") == 5);
  CHECK(countOf(v32, "tile.dot \"pv") == 4);  // the 64 columns past head_dim_v are no values
  const std::string narrow = textOf(specOf("sparse_decode", "layout=MODEL1 page_size=64 topk=512 heads=64 head_dim_v=65"));
  CHECK(countOf(narrow, "tile.dot \"pv") == 2);
}

TEST_CASE("sources of one layout share a loop, others have one each") {
  const std::string same =
      textOf(specOf("sparse_decode", "layout=V32 page_size=64 topk=64 heads=16 extra_page_size=2 extra_topk=3"));
  CHECK(countOf(same, "scf.for") == 1);
  const std::string mixed = textOf(
      specOf("sparse_decode", "layout=V32 page_size=64 topk=64 heads=16 extra_layout=BF16 extra_page_size=2 extra_topk=3"));
  CHECK(countOf(mixed, "scf.for") == 2);
}

TEST_CASE("generic kernels take page size and top-k as arguments, exact ones do not") {
  const std::string fields = "layout=MODEL1 page_size=64 topk=512 heads=64";
  CHECK(!argNames(specOf("sparse_decode", fields)).contains("page_size"));
  CHECK(!argNames(specOf("sparse_decode", fields)).contains("topk"));
  const auto generic = argNames(specOf("sparse_decode", fields + " specialise=generic"));
  CHECK(generic.contains("page_size"));
  CHECK(generic.contains("topk"));
}

TEST_CASE("with splits the sink belongs to combine") {
  const std::string fields = "layout=MODEL1 page_size=64 topk=512 heads=64 sink=1";
  CHECK(argNames(specOf("sparse_decode", fields)).contains("attn_sink"));
  const auto partial = argNames(specOf("sparse_decode", fields, "splits=4"));
  CHECK(!partial.contains("attn_sink"));
  CHECK(partial.contains("part_out"));
  CHECK(argNames(specOf("combine", "heads=64 splits=4 sink=1")).contains("attn_sink"));
}

TEST_CASE("grids") {
  const auto grid = [](const char* kernel, const char* fields, const char* schedule, CallSize size) {
    const KernelSpec spec = specOf(kernel, fields, schedule);
    auto problem = parseProblem(spec.kernel, spec.problem);
    REQUIRE(problem.ok());
    return gridSize(*problem, spec.schedule, size);
  };
  const char* decode = "layout=MODEL1 page_size=64 topk=512 heads=66";
  CHECK(*grid("sparse_decode", decode, "", {.rows = 0}) == 0);
  CHECK(*grid("sparse_decode", decode, "", {.rows = 3}) == 3 * 5);
  CHECK(*grid("sparse_decode", decode, "tile.heads=64,splits=4", {.rows = 70000}) == 70000 * 2 * 4);
  CHECK(*grid("combine", "heads=3 head_dim_v=576 splits=2", "", {.rows = 5}) == 5 * 3 * 2);
  CHECK(*grid("gather_dequant", "layout=V32 page_size=64", "", {.rows = 17}) == 2);
  CHECK(*grid("page_split", "page_size=256", "", {.rows = 2}) == (2 * 4 * 73 + 31) / 32);
  CHECK(*grid("page_mark", "page_size=256", "", {.rows = 2, .width = 1025}) == 4);
  const auto large = grid("sparse_decode", decode, "splits=1024", {.rows = 1 << 20});
  REQUIRE(!large.ok());
  CHECK(large.diag().what.find("1048576 rows") != std::string::npos);
}

TEST_CASE("tile sizes that no program knows are refused") {
  const char* fields = "layout=MODEL1 page_size=64 topk=512 heads=64";
  for (const char* schedule : {"tile.head=16", "tile.heads=12", "tile.tokens=512", "tile.align=32"}) {
    CAPTURE(schedule);
    auto program = buildProgram(specOf("sparse_decode", fields, schedule));
    REQUIRE(!program.ok());
    CHECK(program.diag().code == Code::kUsage);
    CHECK(program.diag().fix.find("tile.tokens (a power of two up to 256)") != std::string::npos);
  }
}

TEST_CASE("unknown kernels and keys are refused") {
  CHECK(!buildProgram(specOf("sparse_encode", "heads=1")).ok());
  CHECK(!buildProgram(specOf("combine", "heads=1 splits=2 tokens=3")).ok());
}

}  // namespace
}  // namespace nereid::kernels::test
