// The launch path on a real driver, with a kernel in PTX that any supported chip runs. Without a driver: skipped, with the
// reason.
#define DOCTEST_CONFIG_IMPLEMENT
#include <doctest/doctest.h>

#include <algorithm>
#include <array>
#include <cstdio>
#include <cstring>
#include <vector>

#include "runtime/launch/device_buffer.h"
#include "runtime/launch/launch.h"
#include "runtime/launch/residency.h"
#include "runtime/launch/stream.h"

using namespace nereid;

namespace {

std::shared_ptr<const cuda::Context> g_context;

// Thread 0 of each block: to[block] += {block, n, stride, scale, dynamic shared bytes}; five 8-byte words a block.
constexpr const char* kRecordPtx = R"(.version 7.8
.target sm_80
.address_size 64
.visible .entry record(.param .u64 to, .param .u32 n, .param .u64 stride, .param .f32 scale) .maxntid 128, 1, 1
{
  .reg .pred %p;
  .reg .b32 %r<5>;
  .reg .b64 %d<9>;
  .reg .f32 %f<2>;
  .reg .f64 %e<2>;
  mov.u32 %r0, %tid.x;
  setp.ne.u32 %p, %r0, 0;
  @%p bra done;
  mov.u32 %r1, %ctaid.x;
  ld.param.u64 %d0, [to];
  cvta.to.global.u64 %d0, %d0;
  mul.wide.u32 %d1, %r1, 40;
  add.u64 %d0, %d0, %d1;
  cvt.u64.u32 %d2, %r1;
  red.global.add.u64 [%d0], %d2;
  ld.param.u32 %r2, [n];
  cvt.u64.u32 %d3, %r2;
  red.global.add.u64 [%d0+8], %d3;
  ld.param.u64 %d4, [stride];
  red.global.add.u64 [%d0+16], %d4;
  ld.param.f32 %f0, [scale];
  cvt.f64.f32 %e0, %f0;
  mov.b64 %d5, %e0;
  red.global.add.u64 [%d0+24], %d5;
  mov.u32 %r3, %dynamic_smem_size;
  cvt.u64.u32 %d6, %r3;
  red.global.add.u64 [%d0+32], %d6;
done:
  ret;
}
)";

Artifact recordArtifact() {
  Artifact a;
  a.spec.target = *findTarget("sm_80");
  a.symbol = "record";
  a.threads = 128;
  a.dynamic_shared_bytes = 50 * 1024;
  a.ptx = kRecordPtx;
  a.args = {{"to", ArgType::kPointer, 16}, {"n", ArgType::kI32, 1}, {"stride", ArgType::kI64, 8}, {"scale", ArgType::kF32, 1}};
  return a;
}

template <typename T>
T need(Result<T> result) {
  if (!result) FAIL(result.diag().text());
  return std::move(*result);
}

void need(Status status) {
  if (!status.ok()) FAIL(status.diag().text());
}

std::array<ArgSlot, 4> slotsFor(const DeviceBuffer& to) {
  std::array<ArgSlot, 4> slots{};
  slots[0].pointer = to.pointer();
  slots[1].i32 = 7;
  slots[2].i64 = (int64_t{1} << 40) + 8;
  slots[3].f32 = 0.375f;
  return slots;
}

}  // namespace

TEST_CASE("arguments, grids, dynamic shared memory, graphs and time") {
  const CodeObject object = need(CodeObject::load(g_context, recordArtifact()));
  CHECK(object.registers() > 0);
  const Stream stream = need(Stream::create(g_context));
  constexpr int kBlocks = 300;
  DeviceBuffer to = need(DeviceBuffer::allocate(g_context, kBlocks * 40));
  need(to.fill(0, stream.handle()));
  const auto slots = slotsFor(to);
  need(launch(object, slots, {.grid = kBlocks}, stream.handle()));
  need(launch(object, slots, {.grid = kBlocks, .dynamic_shared = object.maxDynamicSharedBytes()}, stream.handle()));
  const Graph graph = need(
      Graph::capture(stream, [&] { return launch(object, slots, {.grid = kBlocks, .programmatic = true}, stream.handle()); }));
  Event start = need(Event::create(g_context)), end = need(Event::create(g_context));
  need(start.record(stream.handle()));
  for (int i = 0; i < 3; ++i) need(graph.replay(stream.handle()));
  need(end.record(stream.handle()));
  std::vector<uint8_t> bytes(to.bytes());
  need(to.read(bytes, stream.handle()));
  need(stream.synchronize());
  CHECK(need(end.millisecondsSince(start)) > 0);
  // Five launches: two by hand, three replays.
  double scale = 0.375;
  uint64_t scale_bits = 0;
  std::memcpy(&scale_bits, &scale, 8);
  const uint64_t shared = 4 * uint64_t(object.dynamicSharedBytes()) + uint64_t(object.maxDynamicSharedBytes());
  int wrong = 0;
  for (uint64_t b = 0; b < kBlocks; ++b) {
    uint64_t got[5];
    std::memcpy(got, bytes.data() + b * 40, 40);
    wrong += got[0] != 5 * b || got[1] != 35 || got[2] != 5 * ((uint64_t{1} << 40) + 8) || got[3] != 5 * scale_bits ||
             got[4] != shared;
  }
  CHECK(wrong == 0);
}

TEST_CASE("SM120's residency holds on this chip") {
  const CodeObject object = need(CodeObject::load(g_context, recordArtifact()));
  const Target sm120 = *findTarget("sm_120a");
  for (int dynamic : {50 * 1024, 60 * 1024, 90 * 1024, 99 * 1024}) {
    const BlockNeeds block{object.staticSharedBytes(), dynamic, object.threads() / 32};
    const int padded = need(dynamicSharedForResidency(block, sm120, g_context->device()));
    CHECK(need(object.blocksPerSm(padded)) == residentBlocks(block, sm120));
  }
}

TEST_CASE("the driver's refusals come back as errors, and the context stays usable") {
  Artifact a = recordArtifact();
  a.symbol = "recorded";
  const auto no_entry = CodeObject::load(g_context, a);
  REQUIRE(!no_entry);
  CHECK(no_entry.diag().what.find("cuModuleGetFunction returned CUDA_ERROR_NOT_FOUND") == 0);
  a = recordArtifact();
  a.ptx = ".version 7.8\n.target sm_80\n.address_size 64\n.visible .entry record() { nonsense; }\n";
  const auto no_code = CodeObject::load(g_context, a);
  REQUIRE(!no_code);
  CHECK(no_code.diag().what.find("nonsense") != std::string::npos);
  a = recordArtifact();
  a.cubin = {0x7F, 'E', 'L', 'F', 2, 1, 1, 0, 0, 0, 0, 0, 0, 0, 0, 0};
  a.cubin.resize(4096);
  a.spec.target = *findTarget(g_context->device().target);
  CHECK(!CodeObject::load(g_context, a));
  const auto too_much = DeviceBuffer::allocate(g_context, size_t{1} << 50);
  REQUIRE(!too_much);
  CHECK(too_much.diag().code == Code::kEnvironment);
  CHECK(too_much.diag().what.find("CUDA_ERROR_OUT_OF_MEMORY") != std::string::npos);
  need(g_context->synchronize());
  CHECK(CodeObject::load(g_context, recordArtifact()).ok());
}

int main(int argc, char** argv) {
  auto driver = cuda::Driver::open();
  if (!driver) {
    std::printf("skipped: %s\n", driver.diag().text().c_str());
    return 77;
  }
  auto context = cuda::Context::primary(*driver, 0);
  if (!context) {
    std::printf("skipped: %s\n", context.diag().text().c_str());
    return 77;
  }
  std::printf("device 0: %s, target %s, driver for CUDA %s\n", (*context)->device().name.c_str(),
              (*context)->device().target.c_str(), (*driver)->versionText().c_str());
  g_context = std::move(*context);
  doctest::Context tests(argc, argv);
  const int code = tests.run();
  g_context.reset();
  return code;
}
