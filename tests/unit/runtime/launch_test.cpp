// The whole path on the fake driver: load, arguments, launch, copies, events, graphs; and each of its driver calls failing.
#include "runtime/launch/launch.h"

#include <doctest/doctest.h>

#include <array>
#include <cstring>
#include <numeric>

#include "runtime/launch/device_buffer.h"
#include "runtime/launch/stream.h"
#include "tests/unit/runtime/fake_driver.h"

using namespace nereid;
using fake::FakeDriver;

namespace {

Artifact artifactFor(const char* target, int shared = 4096) {
  Artifact a;
  a.spec.kernel = "copy";
  a.spec.target = *findTarget(target);
  a.symbol = "kernel";
  a.threads = 128;
  a.dynamic_shared_bytes = shared;
  a.cubin = {0x7F, 'E', 'L', 'F'};
  a.args = {{"from", ArgType::kPointer, 16},
            {"rows", ArgType::kI32, 1},
            {"stride", ArgType::kI64, 16},
            {"scale", ArgType::kF32, 1},
            {"to", ArgType::kPointer, 1}};
  return a;
}

ArgSlot pointer(uint64_t address) { return ArgSlot{.bits = address}; }
ArgSlot i32(int32_t v) {
  ArgSlot s{.bits = 0xFFFF'FFFF'FFFF'FFFF};  // whatever stood in the upper half
  s.i32 = v;
  return s;
}
ArgSlot i64(int64_t v) { return ArgSlot{.i64 = v}; }
ArgSlot f32(float v) {
  ArgSlot s{.bits = 0xFFFF'FFFF'FFFF'FFFF};
  s.f32 = v;
  return s;
}

template <typename T>
T at(const std::vector<uint8_t>& bytes, size_t offset) {
  T v;
  REQUIRE(offset + sizeof v <= bytes.size());
  std::memcpy(&v, bytes.data() + offset, sizeof v);
  return v;
}

struct Ready {
  std::shared_ptr<const cuda::Context> context;
  std::unique_ptr<CodeObject> object;
};

Ready ready(FakeDriver& fake, const Artifact& artifact) {
  auto driver = cuda::Driver::over(fake.api());
  REQUIRE(driver);
  auto context = cuda::Context::primary(*driver, 0);
  REQUIRE(context);
  auto object = CodeObject::load(*context, artifact);
  REQUIRE(object);
  return {*context, std::make_unique<CodeObject>(std::move(*object))};
}

const std::array<ArgSlot, 5> kSlots = {pointer(0x1000), i32(-7), i64(int64_t{1} << 40), f32(0.5f), pointer(0x2001)};

// Every call that a caller of the runtime makes for one timed launch and its result.
Status wholePath(FakeDriver& fake) {
  NEREID_TRY(auto driver, cuda::Driver::over(fake.api()));
  NEREID_TRY(auto context, cuda::Context::primary(driver, 0));
  NEREID_TRY(CodeObject object, CodeObject::load(context, artifactFor("sm_120a")));
  NEREID_TRY(const int blocks, object.blocksPerSm(object.dynamicSharedBytes()));
  if (blocks < 1) return Diag{Code::kInternal, "no block fits", "", ""};
  NEREID_TRY(Stream stream, Stream::create(context));
  NEREID_TRY(Event start, Event::create(context));
  NEREID_TRY(Event end, Event::create(context));
  NEREID_TRY(DeviceBuffer buffer, DeviceBuffer::allocate(context, 64));
  NEREID_CHECK_OK(buffer.fill(0, stream.handle()));
  std::array<uint8_t, 16> bytes{1, 2, 3};
  NEREID_CHECK_OK(buffer.write(bytes, stream.handle(), 16));
  NEREID_CHECK_OK(launch(object, kSlots, {.grid = 3}, stream.handle()));
  NEREID_TRY(Graph graph, Graph::capture(stream, [&] { return launch(object, kSlots, {.grid = 5}, stream.handle()); }));
  NEREID_CHECK_OK(start.record(stream.handle()));
  NEREID_CHECK_OK(graph.replay(stream.handle()));
  NEREID_CHECK_OK(end.record(stream.handle()));
  NEREID_CHECK_OK(end.synchronize());
  NEREID_TRY(const float ms, end.millisecondsSince(start));
  if (ms != fake.elapsed_ms) return Diag{Code::kInternal, "wrong time", "", ""};
  std::array<uint8_t, 16> back{};
  NEREID_CHECK_OK(buffer.read(back, stream.handle(), 16));
  NEREID_CHECK_OK(stream.synchronize());
  NEREID_CHECK_OK(context->synchronize());
  if (back != bytes) return Diag{Code::kInternal, "wrong bytes", "", ""};
  return {};
}

}  // namespace

TEST_CASE("the whole path works and leaves nothing behind") {
  FakeDriver fake;
  const Status done = wholePath(fake);
  CHECK_MESSAGE(done.ok(), (done.ok() ? "" : done.diag().text()));
  CHECK(fake.leaks() == "");
  REQUIRE(fake.launched.size() == 2);
  CHECK(fake.launched[0].config.grid_x == 3);
  CHECK(fake.launched[1].config.grid_x == 5);
}

TEST_CASE("each driver call of the path may fail: an error that names it, and nothing is left behind") {
  std::set<std::string> used;
  {
    FakeDriver fake;
    REQUIRE(wholePath(fake).ok());
    used.insert(fake.calls.begin(), fake.calls.end());
  }
  // Calls that release: their failure cannot be helped and hides no result.
  const std::set<std::string> releasing = {"cuDevicePrimaryCtxRelease_v2", "cuCtxPopCurrent_v2", "cuModuleUnload",
                                           "cuStreamDestroy_v2",           "cuEventDestroy_v2",  "cuGraphDestroy",
                                           "cuGraphExecDestroy",           "cuMemFree_v2"};
  int failing = 0;
  for (const std::string& symbol : used) {
    if (releasing.count(symbol)) continue;
    CAPTURE(symbol);
    FakeDriver fake;
    fake.fail = symbol;
    const Status done = wholePath(fake);
    REQUIRE(!done.ok());
    CHECK(done.diag().what.find(symbol) == 0);
    CHECK(done.diag().what.find("CUDA_ERROR_OUT_OF_MEMORY: as the test asked") != std::string::npos);
    CHECK(done.diag().code == Code::kEnvironment);
    if (symbol != "cuCtxPushCurrent_v2" && symbol != "cuStreamEndCapture") CHECK(fake.leaks() == "");
    ++failing;
  }
  CHECK(failing >= 20);
}

TEST_CASE("arguments are packed at multiples of their size, whatever stands in the rest of a slot") {
  FakeDriver fake;
  const Ready r = ready(fake, artifactFor("sm_120a"));
  REQUIRE(launch(*r.object, kSlots, {.grid = 9}, nullptr).ok());
  REQUIRE(fake.launched.size() == 1);
  const auto& one = fake.launched[0];
  CHECK(one.arguments.size() == 40);
  CHECK(at<uint64_t>(one.arguments, 0) == 0x1000);
  CHECK(at<int32_t>(one.arguments, 8) == -7);
  CHECK(at<int32_t>(one.arguments, 12) == 0);  // padding
  CHECK(at<int64_t>(one.arguments, 16) == int64_t{1} << 40);
  CHECK(at<float>(one.arguments, 24) == 0.5f);
  CHECK(at<uint64_t>(one.arguments, 32) == 0x2001);
  CHECK(one.config.block_x == 128);
  CHECK(one.config.shared_bytes == 4096);
  CHECK(one.function == "kernel");
  CHECK(one.programmatic == 0);
}

TEST_CASE("a programmatic launch says so to the driver") {
  FakeDriver fake;
  const Ready r = ready(fake, artifactFor("sm_120a"));
  REQUIRE(launch(*r.object, kSlots, {.grid = 1, .programmatic = true}, nullptr).ok());
  CHECK(fake.launched.at(0).programmatic == 1);
}

TEST_CASE("wrong arguments are refused by name before anything is enqueued") {
  FakeDriver fake;
  const Ready r = ready(fake, artifactFor("sm_120a"));
  auto refused = [&](std::array<ArgSlot, 5> slots, const char* name) {
    const Status s = launch(*r.object, slots, {.grid = 1}, nullptr);
    REQUIRE(!s.ok());
    CHECK(s.diag().code == Code::kUsage);
    CHECK(s.diag().where == std::string("argument ") + name);
    CHECK(s.diag().what.find("no multiple of 16") != std::string::npos);
  };
  auto slots = kSlots;
  slots[0] = pointer(0x1008);
  refused(slots, "from");
  slots = kSlots;
  slots[2] = i64(24);
  refused(slots, "stride");
  const Status few = launch(*r.object, std::span(kSlots).first(4), {.grid = 1}, nullptr);
  REQUIRE(!few.ok());
  CHECK(few.diag().what == "4 arguments for a kernel of 5");
  CHECK(fake.count("cuLaunchKernelEx") == 0);
}

TEST_CASE("more arguments than the buffer holds are an error, not an overflow") {
  ArgList args(3, Arg{"p", ArgType::kPointer, 1});
  std::array<ArgSlot, 3> slots = {pointer(1), pointer(2), pointer(3)};
  std::array<std::byte, 24> buffer;
  auto fits = packArguments(args, slots, buffer);
  REQUIRE(fits);
  CHECK(*fits == 24);
  auto overflow = packArguments(args, slots, std::span(buffer).first(23));
  REQUIRE(!overflow);
  CHECK(overflow.diag().code == Code::kUnsupported);
}

TEST_CASE("grids: none is fine and launches nothing, the largest is launched, beyond is refused") {
  FakeDriver fake;
  const Ready r = ready(fake, artifactFor("sm_120a"));
  CHECK(launch(*r.object, kSlots, {.grid = 0}, nullptr).ok());
  CHECK(fake.count("cuLaunchKernelEx") == 0);
  CHECK(launch(*r.object, kSlots, {.grid = kMaxGrid}, nullptr).ok());
  CHECK(fake.launched.at(0).config.grid_x == 0x7FFFFFFFu);
  for (int64_t grid : {kMaxGrid + 1, int64_t{-1}}) {
    const Status s = launch(*r.object, kSlots, {.grid = grid}, nullptr);
    REQUIRE(!s.ok());
    CHECK(s.diag().code == Code::kUnsupported);
  }
  CHECK(fake.launched.size() == 1);
}

TEST_CASE("the limit of dynamic shared memory is set once, at load, to all that the device has") {
  FakeDriver fake;
  for (int shared : {0, 48 * 1024, 48 * 1024 + 1, 101376 - 512}) {
    CAPTURE(shared);
    fake.entries = {{.name = "kernel", .static_shared = 512}};
    const Ready r = ready(fake, artifactFor("sm_120a", shared));
    CHECK(r.object->maxDynamicSharedBytes() == 101376 - 512);
    const int before = fake.count("cuFuncSetAttribute");
    for (int i = 0; i < 3; ++i) CHECK(launch(*r.object, kSlots, {.grid = 1}, nullptr).ok());
    CHECK(launch(*r.object, kSlots, {.grid = 1, .dynamic_shared = 101376 - 512}, nullptr).ok());
    CHECK(fake.count("cuFuncSetAttribute") == before);
    for (int wrong : {101376 - 511, shared - 1}) {
      if (wrong < 0) continue;  // stands for "as the artifact asks"
      const Status s = launch(*r.object, kSlots, {.grid = 1, .dynamic_shared = wrong}, nullptr);
      REQUIRE(!s.ok());
      CHECK(s.diag().code == Code::kUsage);
    }
  }
  CHECK(fake.count("cuFuncSetAttribute") == 4);
}

TEST_CASE("what cannot run on the device is refused at load by name and leaves nothing loaded") {
  FakeDriver fake;
  auto driver = cuda::Driver::over(fake.api());
  REQUIRE(driver);
  auto context = cuda::Context::primary(*driver, 0);
  REQUIRE(context);
  auto refused = [&](const Artifact& artifact, Code code, std::initializer_list<const char*> words) {
    const auto object = CodeObject::load(*context, artifact);
    REQUIRE(!object);
    CHECK(object.diag().code == code);
    for (const char* word : words) {
      CAPTURE(word);
      CHECK_MESSAGE(object.diag().text().find(word) != std::string::npos, object.diag().text());
    }
    CHECK(fake.modules.empty());
  };
  refused(artifactFor("sm_90a"), Code::kUnsupported, {"sm_90a", "12.0", "--target sm_120a"});
  refused(artifactFor("sm_121a"), Code::kUnsupported, {"sm_121a", "12.0"});
  refused(artifactFor("sm_80"), Code::kUnsupported, {"sm_80", "12.0"});  // machine code of another major version
  Artifact a = artifactFor("cpu");
  a.spec.target = *findTarget("cpu");
  refused(a, Code::kUsage, {"cpu", "no code for a GPU"});
  a = artifactFor("sm_120a");
  a.cubin.clear();
  refused(a, Code::kUsage, {"no code for a GPU"});
  refused(artifactFor("sm_120a", 101377), Code::kUnsupported, {"101377", "101376", "fewer stages"});
  fake.entries = {{.name = "kernel", .static_shared = 1024}};
  refused(artifactFor("sm_120a", 101376 - 1023), Code::kUnsupported, {"100353 + 1024", "101376"});
  fake.entries = {{.name = "kernel", .registers = 255, .max_threads = 96}};
  refused(artifactFor("sm_120a"), Code::kUnsupported, {"128 threads", "255 registers", "96"});
  a = artifactFor("sm_120a");
  a.threads = 1056;
  refused(a, Code::kUnsupported, {"1056", "1024"});
  fake.entries = {{.name = "another"}};
  fake.fail_with = cuda::Error::kNotFound;
  refused(artifactFor("sm_120a"), Code::kInternal, {"cuModuleGetFunction", "kernel", "not in the code object"});
  fake.reject_image = "ptxas says why";
  refused(artifactFor("sm_120a"), Code::kInput, {"cuModuleLoadDataEx", "ptxas says why", "sm_120a"});
}

TEST_CASE("PTX without a suffix runs on later chips, through the driver's compiler") {
  FakeDriver fake;
  Artifact a = artifactFor("sm_80");
  a.cubin.clear();
  a.ptx = ".version 8.0";
  const Ready r = ready(fake, a);
  CHECK(fake.modules.begin()->second->image == std::vector<uint8_t>{'.', 'v', 'e', 'r'});
}

TEST_CASE("a code object moves with its module, which is unloaded once; it keeps its context") {
  FakeDriver fake;
  {
    Ready r = ready(fake, artifactFor("sm_120a"));
    CodeObject moved = std::move(*r.object);
    r.context.reset();
    r.object.reset();
    CHECK(fake.modules.size() == 1);
    CHECK(fake.retained.at(100) == 1);
    CHECK(launch(moved, kSlots, {.grid = 1}, nullptr).ok());
  }
  CHECK(fake.count("cuModuleUnload") == 1);
  CHECK(fake.leaks() == "");
}

TEST_CASE("device buffers: ranges, empty ones, moves") {
  FakeDriver fake;
  const Ready r = ready(fake, artifactFor("sm_120a"));
  auto empty = DeviceBuffer::allocate(r.context, 0);
  REQUIRE(empty);
  CHECK(empty->address() == 0);
  CHECK(empty->fill(1, nullptr).ok());
  CHECK(fake.count("cuMemAlloc_v2") == 0);
  auto made = DeviceBuffer::allocate(r.context, 100);
  REQUIRE(made);
  DeviceBuffer buffer = std::move(*made);
  CHECK(made->address() == 0);
  std::array<uint8_t, 100> bytes{};
  CHECK(buffer.write(bytes, nullptr).ok());
  CHECK(buffer.write(std::span(bytes).first(0), nullptr, 100).ok());
  const Status outside[] = {buffer.write(bytes, nullptr, 1), buffer.read(bytes, nullptr, 1),
                            buffer.read(std::span(bytes).first(1), nullptr, SIZE_MAX)};
  for (const Status& s : outside) {
    REQUIRE(!s.ok());
    CHECK(s.diag().code == Code::kUsage);
  }
}

TEST_CASE("a failing capture ends, and its cause is the error") {
  FakeDriver fake;
  const Ready r = ready(fake, artifactFor("sm_120a"));
  auto stream = Stream::create(r.context);
  REQUIRE(stream);
  const auto graph =
      Graph::capture(*stream, [&] { return launch(*r.object, std::span(kSlots).first(1), {.grid = 1}, stream->handle()); });
  REQUIRE(!graph);
  CHECK(graph.diag().what == "1 arguments for a kernel of 5");
  CHECK(fake.capturing.empty());
  CHECK(fake.live.size() == 1);  // the stream
  auto good = Graph::capture(*stream, [&] { return launch(*r.object, kSlots, {.grid = 2}, stream->handle()); });
  REQUIRE(good);
  CHECK(fake.launched.empty());
  for (int i = 0; i < 3; ++i) CHECK(good->replay(stream->handle()).ok());
  CHECK(fake.launched.size() == 3);
}

TEST_CASE("CPU artifacts run each instance once, with checked arguments") {
  Artifact a = artifactFor("cpu");
  a.cubin.clear();
  a.cpu_entry = [](const ArgSlot* args, int64_t block) { ++static_cast<int*>(args[4].pointer)[block]; };
  std::vector<int> hits(1000);
  auto slots = kSlots;
  slots[4] = ArgSlot{.pointer = hits.data()};
  CHECK(launchOnCpu(a, slots, 1000).ok());
  CHECK(hits == std::vector<int>(1000, 1));
  CHECK(launchOnCpu(a, slots, 0).ok());
  slots[0] = pointer(4);
  CHECK(!launchOnCpu(a, slots, 1).ok());
  CHECK(!launchOnCpu(artifactFor("sm_120a"), kSlots, 1).ok());
}
