// Safetensors: what is written is read back; a file that lies or is cut short is an error that names the file, the tensor and the
// field.
#include "kernels_dsl/spec/tensor_file.h"

#include <unistd.h>

#include <cstring>
#include <initializer_list>
#include <nlohmann/json.hpp>

#include "tests/unit/spec/scratch_folder.h"

using namespace nereid;
using namespace nereid::kernels;
using nlohmann::json;

namespace {

std::string prefixed(uint64_t length, const std::string& rest) {
  std::string bytes(8, '\0');
  std::memcpy(bytes.data(), &length, 8);
  return bytes + rest;
}

std::string fileOf(const std::string& header, const std::string& data) { return prefixed(header.size(), header + data); }

json goodHeader() {
  return {{"__metadata__", {{"kind", "decode"}}},
          {"a", {{"dtype", "F32"}, {"shape", {2, 3}}, {"data_offsets", {0, 24}}}},
          {"b", {{"dtype", "U8"}, {"shape", {5}}, {"data_offsets", {24, 29}}}}};
}

void refusedBytes(const std::string& bytes, std::initializer_list<const char*> words, Code code = Code::kInput) {
  ScratchFolder folder;
  auto r = readTensorFile(writeBytes(folder.file("bad.safetensors"), bytes));
  REQUIRE_FALSE(r.ok());
  CAPTURE(r.diag().text());
  CHECK(r.diag().code == code);
  CHECK(r.diag().where.find("bad.safetensors") != std::string::npos);
  CHECK_FALSE(r.diag().fix.empty());
  for (const char* w : words) CHECK(r.diag().text().find(w) != std::string::npos);
}

void refused(const json& header, std::initializer_list<const char*> words, size_t data_bytes = 29) {
  refusedBytes(fileOf(header.dump(), std::string(data_bytes, 'x')), words);
}

// The good header with one entry of tensor `a` changed.
json lying(const char* field, json value) {
  json h = goodHeader();
  h["a"][field] = std::move(value);
  return h;
}

}  // namespace

TEST_CASE("a good file: dtypes, shapes, bytes, metadata; data is aligned wherever it lies in the file") {
  ScratchFolder folder;
  for (const char* pad : {"", " ", "   ", "       "}) {
    auto r = readTensorFile(writeBytes(folder.file("good"), fileOf(goodHeader().dump() + pad, "abcdefghijklmnopqrstuvwxABCDE")));
    REQUIRE(r.ok());
    CHECK(r->metadata.at("kind") == "decode");
    const Tensor& b = r->tensors.at("b");
    CHECK(b.dtype() == DType::kU8);
    CHECK(b.shape() == Shape{5});
    CHECK(std::string(b.as<char>(), 5) == "ABCDE");
    for (const auto& [name, t] : r->tensors) CHECK(reinterpret_cast<uintptr_t>(t.data()) % kTensorAlign == 0);
    CHECK(r->tensors.at("a").elements() == 6);
  }
}

TEST_CASE("what is written is read back, tensors without elements and odd metadata too") {
  ScratchFolder folder;
  TensorMap tensors;
  auto put = [&](const char* name, DType dtype, Shape shape) {
    auto t = Tensor::allocate(dtype, shape);
    REQUIRE(t.ok());
    for (int64_t i = 0; i < t->bytes(); ++i) t->data()[i] = std::byte(i * 37 + name[0]);
    tensors[name] = *t;
  };
  put("bytes", DType::kU8, {3, 5});
  put("out", DType::kBF16, {2, 1, 3, 7});
  put("lse", DType::kF32, {2, 3, 1});
  put("indices", DType::kI64, {2, 1, 0});
  put("scalar", DType::kF64, {});
  const std::map<std::string, std::string> metadata = {{"kind", "decode"}, {"note", "quote \" and \\ and ü"}};
  const std::string path = folder.file("sub set.safetensors");
  REQUIRE(writeTensorFile(path, tensors, metadata).ok());
  auto r = readTensorFile(path);
  if (!r.ok()) FAIL(r.diag().text());
  CHECK(r->metadata == metadata);
  REQUIRE(r->tensors.size() == tensors.size());
  for (const auto& [name, t] : tensors) {
    const Tensor& got = r->tensors.at(name);
    CHECK(got.dtype() == t.dtype());
    CHECK(got.shape() == t.shape());
    CHECK(std::memcmp(got.data(), t.data(), size_t(t.bytes())) == 0);
  }
  CHECK(std::distance(std::filesystem::directory_iterator(folder.path), {}) == 1);  // no temporary file stays
}

TEST_CASE("files that are no safetensors file") {
  refusedBytes("", {"0 bytes"});
  refusedBytes("abcd", {"4 bytes"});
  refusedBytes(prefixed(0, ""), {"header"});
  refusedBytes(prefixed(1000000, "{}"), {"header", "1000000"});
  refusedBytes(prefixed(uint64_t{1} << 63, "{}"), {"header"});
  refusedBytes(prefixed(~uint64_t{0}, "{}"), {"header"});
  refusedBytes(fileOf("{]  nonsense", ""), {"JSON"});
  refusedBytes(fileOf("[1, 2]  ", ""), {"object"});
  refusedBytes(fileOf(std::string(200000, '['), ""), {"JSON"});
  refusedBytes(fileOf(std::string(200000, '[') + std::string(200000, ']'), ""), {"object"});
  refusedBytes(fileOf("{\"\xff\xfe\": 1}", ""), {"JSON"});
  refusedBytes(fileOf("{\"__metadata__\": 5}", ""), {"__metadata__"});
  refusedBytes(fileOf("{\"__metadata__\": {\"kind\": 5}}", ""), {"metadata kind"});
  refusedBytes(fileOf("{\"__metadata__\": {\"kind\": \"a\", \"kind\": \"b\"}}", ""), {"kind", "twice"});
  const std::string entry = R"({"dtype":"U8","shape":[1],"data_offsets":[0,1]})";
  refusedBytes(fileOf("{\"q\":" + entry + ",\"q\":" + entry + "}", "x"), {"q", "twice"});
}

TEST_CASE("a header longer than readers accept") {
  ScratchFolder folder;
  const std::string path = writeBytes(folder.file("long"), prefixed(kMaxHeaderBytes + 1, ""));
  std::filesystem::resize_file(path, kMaxHeaderBytes + 100);  // a hole
  auto r = readTensorFile(path);
  REQUIRE_FALSE(r.ok());
  CHECK(r.diag().what.find("at most") != std::string::npos);
}

TEST_CASE("headers that lie") {
  CHECK(readTensorFile("/").ok() == false);
  refused(goodHeader(), {"tensor a", "data_offsets", "truncated"}, 10);
  refused(goodHeader(), {"tensor b", "data_offsets"}, 28);
  refused(goodHeader(), {"30 bytes", "29"}, 30);
  refused(lying("data_offsets", {0, 1000000000000}), {"tensor a", "1000000000000"});
  refused(lying("data_offsets", {-8, 4}), {"tensor a", "data_offsets"});
  refused(lying("data_offsets", {20, 5}), {"tensor a", "data_offsets"});
  refused(lying("data_offsets", {0, ~uint64_t{0}}), {"tensor a", "data_offsets"});
  refused(lying("data_offsets", {0}), {"tensor a", "data_offsets"});
  refused(lying("data_offsets", {"0", "24"}), {"tensor a", "data_offsets"});
  refused(lying("data_offsets", {0.0, 24.0}), {"tensor a", "data_offsets"});
  refused(lying("data_offsets", {1, 25}), {"tensor a", "begin at byte 1"});
  refused(lying("shape", {2, 2}), {"tensor a", "shape", "[2, 2]"});
  refused(lying("shape", {int64_t{1} << 40, int64_t{1} << 40}), {"tensor a", "shape", "too large"});
  refused(lying("shape", {-2, -3}), {"tensor a", "shape"});
  refused(lying("shape", {1.5, 4}), {"tensor a", "shape"});
  refused(lying("shape", "6"), {"tensor a", "shape"});
  refused(lying("dtype", "Q7"), {"tensor a", "Q7", "BF16"});
  refused(lying("dtype", 7), {"tensor a", "dtype"});
  for (const char* field : {"dtype", "shape", "data_offsets"}) {
    json h = goodHeader();
    h["a"].erase(field);
    refused(h, {"tensor a", field});
  }
  json h = goodHeader();
  h["a"] = 5;
  refused(h, {"tensor a", "object"});
  h = goodHeader();
  h["b"]["data_offsets"] = {20, 25};
  refused(h, {"tensor b", "begin at byte 20", "inside"});
  h["b"]["data_offsets"] = {25, 30};
  refused(h, {"tensor b", "begin at byte 25"}, 30);  // a byte of no tensor
}

TEST_CASE("paths that cannot be read") {
  ScratchFolder folder;
  auto missing = readTensorFile(folder.file("nowhere.safetensors"));
  REQUIRE_FALSE(missing.ok());
  CHECK(missing.diag().code == Code::kInput);
  CHECK(missing.diag().where.find("nowhere.safetensors") != std::string::npos);
  auto is_folder = readTensorFile(folder.path);
  REQUIRE_FALSE(is_folder.ok());
  CHECK(is_folder.diag().what.find("folder") != std::string::npos);
  CHECK_FALSE(readTensorFile("/dev/null").ok());
}

TEST_CASE("paths that cannot be written leave nothing behind") {
  ScratchFolder folder;
  auto t = Tensor::allocate(DType::kU8, {1 << 20});
  REQUIRE(t.ok());
  auto refusedAt = [&](const std::string& path) {
    const Status s = writeTensorFile(path, {{"a", *t}}, {});
    REQUIRE_FALSE(s.ok());
    CHECK(s.diag().code == Code::kEnvironment);
    CHECK(s.diag().where == path);
    CHECK_FALSE(s.diag().fix.empty());
  };
  refusedAt(folder.file("none/out.safetensors"));
  refusedAt(folder.path);
  if (std::filesystem::exists("/dev/full")) refusedAt("/dev/full");
  CHECK(std::filesystem::is_empty(folder.path));
}

TEST_CASE("a file is replaced as a whole") {
  ScratchFolder folder;
  const std::string path = writeBytes(folder.file("out"), std::string(4096, 'z'));
  auto t = Tensor::allocate(DType::kU8, {4});
  REQUIRE(t.ok());
  REQUIRE(writeTensorFile(path, {{"a", *t}}, {}).ok());
  auto r = readTensorFile(path);
  REQUIRE(r.ok());
  CHECK(r->tensors.size() == 1);
}

TEST_CASE("tensors: sizes that overflow or cannot be had are errors") {
  CHECK_FALSE(Tensor::allocate(DType::kF64, {int64_t{1} << 40, int64_t{1} << 40}).ok());
  CHECK_FALSE(Tensor::allocate(DType::kU8, {-1}).ok());
  auto none = Tensor::allocate(DType::kF32, {int64_t{1} << 60, 0});
  REQUIRE(none.ok());
  CHECK(none->empty());
  CHECK(none->data() != nullptr);
  auto huge = Tensor::allocate(DType::kU8, {int64_t{1} << 61});
  REQUIRE_FALSE(huge.ok());
  CHECK(huge.diag().code == Code::kEnvironment);
}
