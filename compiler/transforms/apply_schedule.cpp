// Writes a schedule onto a program; every refusal is one sentence that says what to change.
#include "compiler/transforms/apply_schedule.h"

#include <fmt/format.h>

#include <map>
#include <set>

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/SCF/IR/SCF.h"

#include "compiler/dialect/tile_dialect.h"

namespace nereid::tile {
namespace {

bool isPowerOfTwo(int x) { return x > 0 && (x & (x - 1)) == 0; }

Diag refuse(std::string what, std::string fix) { return Diag{Code::kUnsupported, std::move(what), "schedule", std::move(fix)}; }

// Which role runs a dot, and on how many warps.
struct Place {
  int role = 0;
  int warps = 0;
};

// "pv" of "pv3": a name for all dots that differ in their number only.
std::string family(const std::string& label) { return label.substr(0, label.find_last_not_of("0123456789") + 1); }

Result<Place> placeOf(const Schedule& s, const std::string& label) {
  if (s.roles.empty()) return Place{0, s.warps};
  for (const std::string& name : {label, family(label)})
    for (size_t i = 0; i < s.roles.size(); i++)
      for (const std::string& dot : s.roles[i].dots)
        if (dot == name) return Place{static_cast<int>(i), s.roles[i].warps};
  return refuse(fmt::format("no role runs the dot {}", label),
                fmt::format("add it to a role, for instance role.main.dots={}", label));
}

Status checkFragment(const std::string& label, DotOp dot, const Grid& g) {
  auto acc = mlir::cast<mlir::RankedTensorType>(dot.getC().getType());
  auto a = mlir::cast<mlir::RankedTensorType>(dot.getA().getType());
  const int64_t m = acc.getDimSize(0), n = acc.getDimSize(1), k = a.getDimSize(1);
  const int unit_k = elementBytes(a.getElementType()) == 1 ? 32 : 16;
  for (int64_t d : {m, n, k})
    if (!isPowerOfTwo(static_cast<int>(d)))
      return refuse(fmt::format("dot {} has a dimension of {}", label, d), "use tile sizes that are powers of two");
  if (m < 16 * g.m || n < 8 * g.n || k < unit_k * g.k)
    return refuse(fmt::format("dot {} [{} x {} x {}] is too small for its grid {}x{}x{}: a warp's part is at least 16 x 8 x {}",
                              label, m, n, k, g.m, g.n, g.k, unit_k),
                  fmt::format("use fewer warps in grid.{} or larger tiles", label));
  return {};
}

// setmaxnreg works on aligned groups of four warps and moves registers inside what the block was launched with; more would be
// waited for without end.
Status checkBudgets(const Schedule& s, const Target& target, int cap) {
  int sum = 0, launched = 0;
  bool any = false;
  for (const Role& r : s.roles) {
    any |= r.registers > 0;
    sum += (r.registers ? r.registers : cap) * r.warps * 32;
    launched += cap * r.warps * 32;
  }
  if (!any || !target.has_setmaxnreg) return {};
  for (const Role& r : s.roles)
    if (r.warps % 4)
      return refuse(fmt::format("role {} has {} warps and the schedule has register budgets", r.name, r.warps),
                    "use multiples of four warps, or no budgets");
  if (sum > launched)
    return refuse(
        fmt::format("register budgets add up to {}, a block of {} registers a thread is launched with {}", sum, cap, launched),
        "lower role.NAME.registers");
  return {};
}

}  // namespace

Status applySchedule(mlir::ModuleOp module, const Schedule& s, const Target& target) {
  mlir::Builder b(module.getContext());
  int total = 0;
  std::map<std::string, std::string> role_of;
  for (const Role& r : s.roles) {
    if (!isPowerOfTwo(r.warps)) return refuse(fmt::format("role {} has {} warps", r.name, r.warps), "use a power of two");
    total += r.warps;
    if (r.name == "load" && !r.dots.empty())
      return refuse(fmt::format("role load has the dot {} but gathers rows only", r.dots.front()), "give it to another role");
    for (const std::string& dot : r.dots)
      if (auto [it, fresh] = role_of.emplace(dot, r.name); !fresh)
        return refuse(fmt::format("the roles {} and {} have the dot {}", it->second, r.name, dot), "give it to one of them");
    if (r.groups == 1) continue;
    if (&r != &s.roles.front() || !r.dots.empty())
      return refuse(fmt::format("role {} has {} groups; carried values would have to pass between them", r.name, r.groups),
                    "give groups to the role that gathers only");
    if (!isPowerOfTwo(r.groups) || r.warps % r.groups)
      return refuse(fmt::format("role {} has {} groups of {} warps in all", r.name, r.groups, r.warps),
                    "use a power of two that divides the warps");
    // A group that waits for an empty slot must know that its phase before the last is over: parity tells two phases apart.
    if (r.groups > s.stages)
      return refuse(fmt::format("role {} has {} groups and the ring {} stages", r.name, r.groups, s.stages),
                    "use at least as many stages as groups");
  }
  if (s.roles.empty()) total = s.warps;
  if (!isPowerOfTwo(s.warps)) return refuse(fmt::format("{} warps a block", s.warps), "use a power of two");
  if (total * 32 > target.max_threads_per_block)
    return refuse(fmt::format("{} warps a block, {} allows {}", total, target.name, target.max_threads_per_block / 32),
                  "use fewer warps");
  if (s.stages < 1) return refuse("a ring needs at least one stage", "set stages to 1 or more");

  std::set<std::string> labels;
  for (auto func : module.getOps<mlir::func::FuncOp>()) {
    if (!func->hasAttr(kKernelAttr)) continue;
    llvm::SmallVector<mlir::Attribute> roles;
    for (const Role& r : s.roles)
      roles.push_back(b.getDictionaryAttr({b.getNamedAttr("name", b.getStringAttr(r.name)),
                                           b.getNamedAttr("warps", b.getI32IntegerAttr(r.warps)),
                                           b.getNamedAttr("groups", b.getI32IntegerAttr(r.groups)),
                                           b.getNamedAttr("registers", b.getI32IntegerAttr(r.registers))}));
    func->setAttr(kRolesAttr, b.getArrayAttr(roles));
    // A program may lose its loop (one tile in all) and with it its roles; then the widest role's warps run it.
    int warps = s.warps;
    for (const Role& r : s.roles) warps = std::max(&r == &s.roles.front() ? 1 : warps, r.warps);
    func->setAttr(kWarpsAttr, b.getI32IntegerAttr(warps));
    func->setAttr(kStagesAttr, b.getI32IntegerAttr(s.stages));
    // Warps are dealt to the SM's four partitions, each with a quarter of the registers: count them in fours.
    const int blocks = std::max(1, s.blocks_per_sm), threads = (total + 3) / 4 * 128;
    const int cap = std::min(255, target.registers_per_sm / (blocks * threads) / 8 * 8);
    if (cap < 24)
      return refuse(fmt::format("{} blocks of {} warps leave {} registers a thread", blocks, total, cap),
                    "use fewer blocks_per_sm");
    func->setAttr(kMaxRegistersAttr, b.getI32IntegerAttr(cap));
    NEREID_CHECK_OK(checkBudgets(s, target, cap));
    Status status;
    func.walk([&](mlir::Operation* op) {
      if (auto dot = mlir::dyn_cast<DotOp>(op)) {
        const std::string label = dot.getLabel().str();
        labels.insert({label, family(label)});
        auto place = placeOf(s, label);
        if (!place) return status = place.diag(), mlir::WalkResult::interrupt();
        auto found = s.grid.contains(label) ? s.grid.find(label) : s.grid.find(family(label));
        Grid g = found != s.grid.end() ? found->second : Grid{1, place->warps, 1};
        if (g.warps() != place->warps)
          return status = refuse(fmt::format("grid.{} has {} warps, its role has {}", label, g.warps(), place->warps),
                                 "make m·n·k equal to the role's warps"),
                 mlir::WalkResult::interrupt();
        if (auto fits = checkFragment(label, dot, g); !fits.ok()) return status = fits, mlir::WalkResult::interrupt();
        op->setAttr(kGridAttr, b.getDenseI32ArrayAttr({g.m, g.n, g.k}));
        op->setAttr(kRoleAttr, b.getI32IntegerAttr(place->role));
      }
      if (auto gather = mlir::dyn_cast<GatherRowsOp>(op)) {
        const int64_t width = mlir::cast<mlir::RankedTensorType>(gather.getType()).getDimSize(1);
        const bool can = target.has_bulk_copy && gather.getAlign() % 16 == 0 && width % 16 == 0;
        const bool bulk = s.copy == Copy::kBulk ? can : s.copy == Copy::kAuto && can && width >= 512;
        op->setAttr(kBulkAttr, b.getBoolAttr(bulk));
      }
      return mlir::WalkResult::advance();
    });
    if (!status.ok()) return status;
  }
  for (const auto& [label, grid] : s.grid)
    if (!labels.contains(label)) return refuse(fmt::format("grid.{} names a dot that the program has not", label), "remove it");
  return {};
}

}  // namespace nereid::tile
