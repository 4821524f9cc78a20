// A schedule: every choice that does not change what a kernel means. Kernels read only `tile`; the compiler reads the rest.
#pragma once
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "runtime/base/result.h"
#include "runtime/spec/target.h"

namespace nereid {

// Warps of one role over the rows (m), columns (n) and reduction dimension (k) of a dot.
struct Grid {
  int m = 1, n = 1, k = 1;
  int warps() const { return m * n * k; }
  bool operator==(const Grid&) const = default;
};

// A group of warps that runs a part of the program. The role named "load" owns the row gathers of loops and has no dots;
// each other role owns the dots whose labels it lists; "pv" stands for pv0, pv1, … too, here and in `grid`. A schedule without
// roles runs everything on `warps` warps.
struct Role {
  std::string name;
  std::vector<std::string> dots;
  int warps = 4;
  int registers = 0;  // a thread's budget (setmaxnreg); 0: as launched
  int groups = 1;     // of equal size, which take a loop's iterations in turn; "load" only
  bool operator==(const Role&) const = default;
};

enum class Copy { kAuto, kBulk, kAsync };  // kAuto: bulk where the target has it and a row is at least 512 bytes

struct Schedule {
  std::map<std::string, int> tile;  // tile sizes by the names the program asks for: "heads", "tokens", "rows", "m", "n", "k"
  int warps = 4;                    // warps of a block when there are no roles
  std::vector<Role> roles;
  std::map<std::string, Grid> grid;  // by dot label
  int stages = 2;                    // depth of the ring of gathered rows
  Copy copy = Copy::kAuto;
  int blocks_per_sm = 0;  // register cap so that this many blocks fit; 0: no cap
  int splits = 1;         // blocks that share one row's tokens

  int totalWarps() const;
  std::string text() const;  // canonical "key=value,…", parsed back by parse()
  bool operator==(const Schedule&) const = default;
};

// Parses "tile.heads=16,stages=3,role.main.warps=4,role.main.dots=qk+pv,grid.qk=1x1x4,copy=bulk,…" over the values of `base`.
// `roles=load+main` (or none) says which roles there are; a role that is named only by its fields is added to those of `base`.
// Unknown keys and bad values are usage errors that list what is accepted.
Result<Schedule> parseSchedule(std::string_view text, Schedule base);

}  // namespace nereid
