// Reading: the header's claims are compared with the file's size, then with each other. Writing: temporary file and rename.
#include "kernels_dsl/spec/tensor_file.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <bit>
#include <cerrno>
#include <cstring>
#include <nlohmann/json.hpp>
#include <set>

namespace nereid::kernels {
namespace {

using nlohmann::json;
constexpr int64_t kPrefixBytes = 8;
constexpr const char* kRewrite = "write the file again, for example with the safetensors library";

static_assert(std::endian::native == std::endian::little, "safetensors and the kernels' data are little-endian");

struct Descriptor {
  int fd = -1;
  ~Descriptor() {
    if (fd >= 0) ::close(fd);
  }
};

std::string systemError(int error) { return std::strerror(error); }

Diag broken(const std::string& path, std::string what) { return Diag{Code::kInput, std::move(what), path, kRewrite}; }

Diag brokenTensor(const std::string& path, const std::string& tensor, std::string what) {
  return Diag{Code::kInput, fmt::format("tensor {}: {}", tensor, what), path, kRewrite};
}

struct Mapping {
  std::shared_ptr<std::byte> bytes;  // the whole file, read-only
  int64_t size = 0;
};

Result<Mapping> mapFile(const std::string& path) {
  Descriptor file{::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK)};
  if (file.fd < 0) {
    const int error = errno;
    const bool absent = error == ENOENT || error == ENOTDIR;
    return Diag{absent ? Code::kInput : Code::kEnvironment, fmt::format("the file cannot be opened: {}", systemError(error)),
                path, absent ? "check the path" : "make the file readable"};
  }
  struct stat info{};
  if (::fstat(file.fd, &info) != 0)
    return Diag{Code::kEnvironment, fmt::format("fstat: {}", systemError(errno)), path, "check the file system"};
  if (S_ISDIR(info.st_mode)) return Diag{Code::kInput, "this is a folder", path, "pass a safetensors file"};
  if (!S_ISREG(info.st_mode)) return Diag{Code::kInput, "this is no regular file", path, "pass a safetensors file"};
  if (info.st_size < kPrefixBytes)
    return broken(path, fmt::format("the file has {} bytes; a safetensors file has at least 8", int64_t(info.st_size)));
  void* at = ::mmap(nullptr, size_t(info.st_size), PROT_READ, MAP_PRIVATE, file.fd, 0);
  if (at == MAP_FAILED)
    return Diag{Code::kEnvironment, fmt::format("mmap: {}", systemError(errno)), path,
                "free address space or use a smaller file"};
  const size_t size = size_t(info.st_size);
  return Mapping{std::shared_ptr<std::byte>(static_cast<std::byte*>(at), [size](std::byte* p) { ::munmap(p, size); }),
                 int64_t(info.st_size)};
}

// nlohmann keeps the last of two equal keys; the format forbids them, and which one counts must not be a matter of the reader.
Result<json> parseHeader(const std::string& path, const char* text, size_t length) {
  std::vector<std::set<std::string>> open;  // keys of the objects that are being parsed
  std::string twice;
  const auto watch = [&](int, json::parse_event_t event, json& value) {
    if (event == json::parse_event_t::object_start) open.emplace_back();
    if (event == json::parse_event_t::object_end && !open.empty()) open.pop_back();
    if (event == json::parse_event_t::key && !open.empty() && !open.back().insert(value.get<std::string>()).second &&
        twice.empty())
      twice = value.get<std::string>();
    return true;
  };
  json header;
  try {
    header = json::parse(text, text + length, watch);
  } catch (const json::exception& e) {
    const auto* place = dynamic_cast<const json::parse_error*>(&e);
    return broken(path, fmt::format("the header of {} bytes is not JSON{}", length,
                                    place ? fmt::format(", see its byte {}", place->byte) : ""));
  }
  if (!header.is_object()) return broken(path, "the header is not a JSON object");
  if (!twice.empty()) return broken(path, fmt::format("the header has the key '{}' twice", twice));
  return header;
}

struct Entry {
  std::string name;
  DType dtype;
  Shape shape;
  int64_t begin = 0, end = 0;
};

// Whole numbers from 0 to 2^62; anything else is not one.
bool wholeNumber(const json& value, int64_t& number) {
  if (value.is_number_unsigned()) {
    const auto v = value.get<uint64_t>();
    return v <= uint64_t{1} << 62 && (number = int64_t(v), true);
  }
  return false;
}

Result<Entry> parseEntry(const std::string& path, const std::string& name, const json& value, int64_t data_bytes) {
  auto bad = [&](std::string what) { return brokenTensor(path, name, std::move(what)); };
  if (!value.is_object()) return bad("its header entry is not an object with dtype, shape and data_offsets");
  for (const char* field : {"dtype", "shape", "data_offsets"})
    if (!value.contains(field)) return bad(fmt::format("its header entry has no {}", field));
  Entry e{.name = name, .dtype = DType::kU8};
  if (!value["dtype"].is_string()) return bad("dtype is not a string");
  auto dtype = findDType(value["dtype"].get<std::string>());
  if (!dtype.ok()) return bad(fmt::format("{}; {}", dtype.diag().what, dtype.diag().fix));
  e.dtype = *dtype;
  if (!value["shape"].is_array()) return bad("shape is not a list");
  for (const json& dim : value["shape"]) {
    int64_t d = 0;
    if (!wholeNumber(dim, d)) return bad("shape has an entry that is not a whole number ≥ 0");
    e.shape.push_back(d);
  }
  const json& offsets = value["data_offsets"];
  if (!offsets.is_array() || offsets.size() != 2 || !wholeNumber(offsets[0], e.begin) || !wholeNumber(offsets[1], e.end))
    return bad("data_offsets is not a pair of whole numbers from 0 to 2^62");
  if (e.begin > e.end) return bad(fmt::format("data_offsets go from {} back to {}", e.begin, e.end));
  if (e.end > data_bytes)
    return bad(
        fmt::format("data_offsets end at byte {}, but the file has {} bytes of data; it may be truncated", e.end, data_bytes));
  int64_t elements = 0;
  if (!countElements(e.shape, dtypeBytes(e.dtype), elements))
    return bad(fmt::format("shape {} is too large", shapeText(e.shape)));
  const int64_t bytes = elements * dtypeBytes(e.dtype);
  if (bytes != e.end - e.begin)
    return bad(fmt::format("{} of shape {} has {} bytes, but data_offsets hold {}", dtypeName(e.dtype), shapeText(e.shape), bytes,
                           e.end - e.begin));
  return e;
}

// The tensors lie one after another: two that share a byte, or a byte of none, mean that the header belongs to another file.
Status checkCover(const std::string& path, std::vector<Entry> entries, int64_t data_bytes) {
  std::sort(entries.begin(), entries.end(),
            [](const Entry& a, const Entry& b) { return std::tie(a.begin, a.end) < std::tie(b.begin, b.end); });
  int64_t at = 0;
  for (const Entry& e : entries) {
    if (e.begin < at)
      return brokenTensor(path, e.name,
                          fmt::format("data_offsets begin at byte {}, inside another tensor that ends at {}", e.begin, at));
    if (e.begin > at)
      return brokenTensor(path, e.name,
                          fmt::format("data_offsets begin at byte {}, but the tensor before ends at {}", e.begin, at));
    at = e.end;
  }
  if (at != data_bytes)
    return broken(path, fmt::format("the file has {} bytes of data, but data_offsets cover {}", data_bytes, at));
  return {};
}

Result<Tensor> view(const Mapping& file, int64_t data_start, const Entry& e) {
  std::byte* first = file.bytes.get() + data_start + e.begin;
  if (e.end > e.begin && reinterpret_cast<uintptr_t>(first) % kTensorAlign == 0)
    return Tensor(e.dtype, e.shape, std::shared_ptr<std::byte>(file.bytes, first));
  NEREID_TRY(Tensor copy, Tensor::allocate(e.dtype, e.shape));
  std::memcpy(copy.data(), first, size_t(e.end - e.begin));
  return copy;
}

std::string headerText(const TensorMap& tensors, const std::map<std::string, std::string>& metadata,
                       std::vector<const Tensor*>& order) {
  std::vector<std::pair<const std::string*, const Tensor*>> sorted;
  for (const auto& [name, tensor] : tensors) sorted.emplace_back(&name, &tensor);
  // Wide elements first, so that each tensor's bytes stay aligned to its element.
  std::sort(sorted.begin(), sorted.end(), [](const auto& a, const auto& b) {
    const int wide_a = dtypeBytes(a.second->dtype()), wide_b = dtypeBytes(b.second->dtype());
    return wide_a != wide_b ? wide_a > wide_b : *a.first < *b.first;
  });
  json header = json::object();
  if (!metadata.empty()) header["__metadata__"] = metadata;
  int64_t at = 0;
  for (const auto& [name, tensor] : sorted) {
    header[*name] = {
        {"dtype", dtypeName(tensor->dtype())}, {"shape", tensor->shape()}, {"data_offsets", {at, at + tensor->bytes()}}};
    at += tensor->bytes();
    order.push_back(tensor);
  }
  std::string text = header.dump(-1, ' ', false, json::error_handler_t::replace);
  text.resize((text.size() + kPrefixBytes + kTensorAlign - 1) / kTensorAlign * kTensorAlign - kPrefixBytes, ' ');
  return text;
}

bool writeAll(int fd, const void* data, size_t bytes) {
  const char* at = static_cast<const char*>(data);
  while (bytes > 0) {
    const ssize_t n = ::write(fd, at, std::min<size_t>(bytes, size_t{1} << 30));
    if (n < 0 && errno == EINTR) continue;
    if (n < 0) return false;
    at += n;
    bytes -= size_t(n);
  }
  return true;
}

Diag unwritable(const std::string& path, int error) {
  return Diag{Code::kEnvironment, fmt::format("the file cannot be written: {}", systemError(error)), path,
              "choose a folder that exists, is writable and has space"};
}

}  // namespace

Result<TensorFile> readTensorFile(const std::string& path) {
  NEREID_TRY(const Mapping file, mapFile(path));
  uint64_t header_bytes = 0;
  std::memcpy(&header_bytes, file.bytes.get(), kPrefixBytes);
  if (header_bytes == 0) return broken(path, "the header has 0 bytes");
  if (header_bytes > uint64_t(file.size - kPrefixBytes))
    return broken(path, fmt::format("the header claims {} bytes, but {} follow; the file may be truncated or of another format",
                                    header_bytes, file.size - kPrefixBytes));
  if (header_bytes > kMaxHeaderBytes)
    return broken(path, fmt::format("the header claims {} bytes; at most {} are read", header_bytes, kMaxHeaderBytes));
  const char* text = reinterpret_cast<const char*>(file.bytes.get()) + kPrefixBytes;
  NEREID_TRY(const json header, parseHeader(path, text, size_t(header_bytes)));

  TensorFile out{.path = path};
  const int64_t data_start = kPrefixBytes + int64_t(header_bytes), data_bytes = file.size - data_start;
  std::vector<Entry> entries;
  for (const auto& [name, value] : header.items()) {
    if (name == "__metadata__") {
      if (!value.is_object()) return broken(path, "__metadata__ is not an object");
      for (const auto& [key, text_value] : value.items()) {
        if (!text_value.is_string()) return broken(path, fmt::format("metadata {} is not a string", key));
        out.metadata[key] = text_value.get<std::string>();
      }
      continue;
    }
    NEREID_TRY(Entry entry, parseEntry(path, name, value, data_bytes));
    entries.push_back(std::move(entry));
  }
  NEREID_CHECK_OK(checkCover(path, entries, data_bytes));
  for (const Entry& e : entries) {
    NEREID_TRY(out.tensors[e.name], view(file, data_start, e));
  }
  return out;
}

Status writeTensorFile(const std::string& path, const TensorMap& tensors, const std::map<std::string, std::string>& metadata) {
  struct stat info{};
  const bool exists = ::stat(path.c_str(), &info) == 0;
  if (exists && S_ISDIR(info.st_mode)) return Diag{Code::kEnvironment, "this is a folder", path, "pass the name of a file"};
  const bool in_place = exists && !S_ISREG(info.st_mode);  // a device or pipe is written to, not replaced
  const std::string target = in_place ? path : fmt::format("{}.tmp{}", path, ::getpid());
  Descriptor file{::open(target.c_str(), O_WRONLY | O_CLOEXEC | (in_place ? 0 : O_CREAT | O_TRUNC), 0666)};
  if (file.fd < 0) return unwritable(path, errno);

  std::vector<const Tensor*> order;
  const std::string header = headerText(tensors, metadata, order);
  const uint64_t header_bytes = header.size();
  bool fine = writeAll(file.fd, &header_bytes, sizeof(header_bytes)) && writeAll(file.fd, header.data(), header.size());
  for (const Tensor* t : order) fine = fine && writeAll(file.fd, t->data(), size_t(t->bytes()));
  int error = errno;
  if (fine) {
    fine = ::close(std::exchange(file.fd, -1)) == 0 && (in_place || ::rename(target.c_str(), path.c_str()) == 0);
    error = errno;
  }
  if (fine) return {};
  if (!in_place) ::unlink(target.c_str());
  return unwritable(path, error);
}

}  // namespace nereid::kernels
