#include "compiler/assembler/ptxas.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <map>
#include <mutex>

#include "compiler/assembler/assembler_log.h"
#include "compiler/assembler/cuda_home.h"

namespace nereid::compiler {
namespace {

namespace fs = std::filesystem;

// A folder of its own under the system's temporary folder.
struct TemporaryFolder {
  std::string path;
  ~TemporaryFolder() {
    std::error_code error;
    if (!path.empty()) fs::remove_all(path, error);
  }
};

Status makeFolder(TemporaryFolder& folder) {
  std::error_code error;
  fs::path base = fs::temp_directory_path(error);
  std::string pattern = (error ? std::string("/tmp") : base.string()) + "/nereid-ptxas-XXXXXX";
  if (!mkdtemp(pattern.data())) {
    return Diag{Code::kEnvironment, fmt::format("cannot make a temporary folder: {}", std::strerror(errno)), pattern,
                "set TMPDIR to a writable folder"};
  }
  folder.path = pattern;
  return {};
}

struct Ran {
  int exit_status = -1;
  std::string output;  // stdout and stderr together
};

// Runs a program to its end. No shell, so paths need no quoting.
Result<Ran> runProgram(const std::vector<std::string>& args) {
  int pipe_ends[2];
  if (pipe2(pipe_ends, O_CLOEXEC) != 0)
    return Diag{Code::kEnvironment, fmt::format("cannot make a pipe: {}", std::strerror(errno)), args[0],
                "raise the limit of open files"};
  posix_spawn_file_actions_t actions;
  posix_spawn_file_actions_init(&actions);
  posix_spawn_file_actions_adddup2(&actions, pipe_ends[1], STDOUT_FILENO);
  posix_spawn_file_actions_adddup2(&actions, pipe_ends[1], STDERR_FILENO);
  std::vector<char*> argv;
  argv.reserve(args.size() + 1);
  for (const std::string& arg : args) argv.push_back(const_cast<char*>(arg.c_str()));
  argv.push_back(nullptr);
  pid_t child = 0;
  int rc = posix_spawn(&child, args[0].c_str(), &actions, nullptr, argv.data(), environ);
  posix_spawn_file_actions_destroy(&actions);
  close(pipe_ends[1]);
  Ran ran;
  if (rc == 0) {
    char buffer[4096];
    for (ssize_t n; (n = read(pipe_ends[0], buffer, sizeof buffer)) > 0 || (n < 0 && errno == EINTR);) {
      if (n > 0) ran.output.append(buffer, static_cast<size_t>(n));
    }
    int status = 0;
    while (waitpid(child, &status, 0) < 0 && errno == EINTR) {
    }
    ran.exit_status = WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
  }
  close(pipe_ends[0]);
  if (rc != 0)
    return Diag{Code::kEnvironment, fmt::format("cannot start ptxas: {}", std::strerror(rc)), args[0], "check the file"};
  return ran;
}

}  // namespace

Result<std::string> findPtxas(const std::string& cuda_home) {
  std::string program = findProgram(cuda_home, "ptxas");
  if (!program.empty()) return program;
  return Diag{Code::kEnvironment, "the program ptxas is missing",
              fmt::format("looked in bin of {}", fmt::join(cudaHomes(cuda_home), ", ")),
              "install it (pip install nvidia-cuda-nvcc, or a CUDA 13 toolkit), or point NEREID_CUDA_HOME at a toolkit"};
}

Result<std::string> ptxasVersion(const std::string& program) {
  static std::mutex mutex;
  static std::map<std::string, std::string> known;
  std::lock_guard lock(mutex);
  if (auto found = known.find(program); found != known.end()) return found->second;
  NEREID_TRY(Ran ran, runProgram({program, "--version"}));
  size_t at = ran.output.find(", V");
  if (ran.exit_status != 0 || at == std::string::npos) {
    return Diag{Code::kEnvironment, "ptxas --version does not print a version: " + ran.output, program,
                "reinstall the CUDA toolkit"};
  }
  size_t end = ran.output.find_first_not_of("0123456789.", at + 3);
  return known[program] = "ptxas " + ran.output.substr(at + 3, end == std::string::npos ? end : end - at - 3);
}

Result<Assembled> assembleWithPtxas(const std::string& program, const std::string& ptx, const Target& target) {
  NEREID_TRY(std::string version, ptxasVersion(program));
  TemporaryFolder folder;
  NEREID_CHECK_OK(makeFolder(folder));
  std::string source = folder.path + "/nereid.ptx", object = folder.path + "/nereid.cubin";
  std::ofstream(source, std::ios::binary) << ptx;
  NEREID_TRY(Ran ran, runProgram({program, "-v", "--gpu-name", target.name, "--output-file", object, source}));
  if (ran.exit_status != 0) {
    // The temporary folder's name is noise in the message.
    for (size_t at; (at = ran.output.find(folder.path + "/")) != std::string::npos;) ran.output.erase(at, folder.path.size() + 1);
    return rejectedPtx(version, target, ran.output.empty() ? fmt::format("exit status {}", ran.exit_status) : ran.output, "PTX");
  }
  std::ifstream file(object, std::ios::binary);
  Assembled result;
  result.cubin.assign(std::istreambuf_iterator<char>(file), std::istreambuf_iterator<char>());
  if (result.cubin.empty())
    return Diag{Code::kEnvironment, "ptxas left no cubin", folder.path,
                "check that the temporary folder is writable and not full"};
  result.resources = parseResources(ran.output);
  result.assembler = version;
  result.log = std::move(ran.output);
  return result;
}

}  // namespace nereid::compiler
