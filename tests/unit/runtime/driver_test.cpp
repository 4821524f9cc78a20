// Opening the driver, its errors as advice, devices, contexts.
#include "runtime/driver/driver.h"

#include <dlfcn.h>
#include <doctest/doctest.h>

#include "runtime/driver/context.h"
#include "tests/unit/runtime/fake_driver.h"

using namespace nereid;
using fake::FakeDriver;

TEST_CASE("a missing library is an environment error that names it and what to install") {
  const auto api = cuda::loadApi("libnereid-no-such-driver.so.1");
  REQUIRE(!api);
  CHECK(api.diag().code == Code::kEnvironment);
  CHECK(api.diag().text().find("libnereid-no-such-driver.so.1") != std::string::npos);
  CHECK(api.diag().fix.find("install NVIDIA's driver") != std::string::npos);
  CHECK(exitCode(api.diag().code) == 3);
}

TEST_CASE("a library without the symbols is an error that names each of them") {
  const auto api = cuda::loadApi("libm.so.6");
  REQUIRE(!api);
  CHECK(api.diag().code == Code::kEnvironment);
#define NEREID_NAMED(field, symbol, parameters) CHECK(api.diag().what.find(#symbol) != std::string::npos);
  NEREID_CUDA_SYMBOLS(NEREID_NAMED)
#undef NEREID_NAMED
  CHECK(api.diag().where == "libm.so.6");
}

TEST_CASE("a library with the symbols fills each field with its own symbol") {
  const auto api = cuda::loadApi(NEREID_STUB_DRIVER);
  REQUIRE(api);
  void* library = dlopen(NEREID_STUB_DRIVER, RTLD_NOW);
  REQUIRE(library);
#define NEREID_PLACE(field, symbol, parameters) CHECK(reinterpret_cast<void*>(api->field) == dlsym(library, #symbol));
  NEREID_CUDA_SYMBOLS(NEREID_PLACE)
#undef NEREID_PLACE
}

TEST_CASE("one symbol less is an error that names it alone") {
  const auto api = cuda::loadApi(NEREID_STUB_DRIVER_WITHOUT_LAUNCH);
  REQUIRE(!api);
  CHECK(api.diag().what == "the CUDA driver lacks cuLaunchKernelEx");
}

TEST_CASE("a driver without devices, or one that does not start, is an environment error with advice") {
  FakeDriver fake;
  SUBCASE("no device") {
    fake.chips.clear();
    const auto driver = cuda::Driver::over(fake.api());
    REQUIRE(!driver);
    CHECK(driver.diag().code == Code::kEnvironment);
    CHECK(driver.diag().fix.find("CUDA_VISIBLE_DEVICES") != std::string::npos);
  }
  for (auto [error, word] :
       {std::pair{cuda::Error::kNoDevice, "CUDA_VISIBLE_DEVICES"}, std::pair{cuda::Error::kStubLibrary, "stub"},
        std::pair{cuda::Error::kSystemDriverMismatch, "versions"}, std::pair{cuda::Error::kNotInitialized, "fork"}}) {
    CAPTURE(word);
    fake.fail = "cuInit";
    fake.fail_with = error;
    const auto driver = cuda::Driver::over(fake.api());
    REQUIRE(!driver);
    CHECK(driver.diag().code == Code::kEnvironment);
    CHECK(driver.diag().what.find("cuInit") != std::string::npos);
    CHECK(driver.diag().fix.find(word) != std::string::npos);
  }
}

TEST_CASE("an error that the table does not know keeps its name and number") {
  cuda::Api none;  // not even names of errors
  const Diag diag = cuda::driverDiag(none, static_cast<cuda::Error>(4711), "cuSomething", "here");
  CHECK(diag.what == "cuSomething returned 4711");
  CHECK(diag.where == "here");
  CHECK(!diag.fix.empty());
}

TEST_CASE("devices: properties and the target that runs on each") {
  FakeDriver fake;
  fake.chips = {
      {.name = "B"},
      {.name = "H", .major = 9, .minor = 0, .shared_per_block = 232448, .shared_per_sm = 233472, .threads_per_sm = 2048}};
  const auto driver = cuda::Driver::over(fake.api());
  REQUIRE(driver);
  CHECK((*driver)->versionText() == "13.0");
  const auto devices = (*driver)->devices();
  REQUIRE(devices);
  REQUIRE(devices->size() == 2);
  CHECK((*devices)[0].target == "sm_120a");
  CHECK((*devices)[0].capability == 120);
  CHECK((*devices)[0].warps_per_sm == 48);
  CHECK((*devices)[1].name == "H");
  CHECK((*devices)[1].target == "sm_90a");
  CHECK((*devices)[1].shared_per_block == 232448);
  CHECK((*devices)[1].warps_per_sm == 64);
  for (int wrong : {-1, 2}) {
    const auto none = (*driver)->device(wrong);
    REQUIRE(!none);
    CHECK(none.diag().code == Code::kUsage);
    CHECK(none.diag().text().find("0 to 1") != std::string::npos);
  }
}

TEST_CASE("target of a compute capability") {
  CHECK(cuda::targetForCapability(120) == "sm_120a");
  CHECK(cuda::targetForCapability(121) == "sm_121a");
  CHECK(cuda::targetForCapability(90) == "sm_90a");
  CHECK(cuda::targetForCapability(89) == "sm_89");
  CHECK(cuda::targetForCapability(86) == "sm_80");
  CHECK(cuda::targetForCapability(80) == "sm_80");
  CHECK(cuda::targetForCapability(75).empty());
  CHECK(cuda::targetForCapability(100).empty());  // code of sm_90a does not run there
}

TEST_CASE("a context is retained once, released once, and what was current before stays current") {
  FakeDriver fake;
  fake.chips.resize(2);
  {
    const auto driver = cuda::Driver::over(fake.api());
    REQUIRE(driver);
    const auto first = cuda::Context::primary(*driver, 0), second = cuda::Context::primary(*driver, 1);
    REQUIRE(first);
    REQUIRE(second);
    auto outer = cuda::CurrentContext::enter(**first);
    REQUIRE(outer);
    {
      auto inner = cuda::CurrentContext::enter(**second);
      REQUIRE(inner);
      CHECK(fake.stack.back() == (*second)->handle());
    }
    CHECK(fake.stack.back() == (*first)->handle());
    CHECK((*second)->synchronize().ok());
    CHECK(fake.stack.size() == 1);
    const auto copy = *first;
    CHECK(fake.count("cuDevicePrimaryCtxRetain") == 2);
  }
  CHECK(fake.count("cuDevicePrimaryCtxRelease_v2") == 2);
  CHECK(fake.leaks() == "");
}
