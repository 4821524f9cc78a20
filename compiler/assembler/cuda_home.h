// Where NVIDIA's libraries and programs are looked for.
#pragma once
#include <string>
#include <vector>

namespace nereid::compiler {

// Folders in order: `option` (or else $NEREID_CUDA_HOME); the folder cuda of the build or installation that this code belongs to
// (in the executable's or library's folder or one of the two above it); /usr/local/cuda. An option or variable that is set is the
// only folder: a wish that cannot be met is an error, not a reason to take another toolkit.
std::vector<std::string> cudaHomes(const std::string& option);
// True where the folders above were chosen by the caller.
bool isChosenCudaHome(const std::string& option);

// home/lib64/name and home/lib/name of each home, then, unless the home was chosen, the bare name for the loader's path.
std::vector<std::string> libraryCandidates(const std::string& option, const std::vector<std::string>& names);
// First executable home/bin/name, then $PATH unless the home was chosen; "" where there is none.
std::string findProgram(const std::string& option, const std::string& name);

}  // namespace nereid::compiler
