// All examples in one executable, for a machine that gets one file: nereid-examples NAME ARGUMENTS…
#include <cstdio>
#include <cstring>

#define EXAMPLES(X) X(vector_add) X(row_softmax) X(paged_gather) X(gemm_bf16) X(gemm_fp8_weights)
#define DECLARE(name) int name##_main(int argc, char** argv);
#define ROW(name) {#name, name##_main},
EXAMPLES(DECLARE)

int main(int argc, char** argv) {
  const struct {
    const char* name;
    int (*main)(int, char**);
  } examples[] = {EXAMPLES(ROW)};
  for (const auto& e : examples)
    if (argc > 1 && !std::strcmp(argv[1], e.name)) return e.main(argc - 1, argv + 1);
  std::fprintf(stderr, "usage: %s NAME ARGUMENTS…; names are", argv[0]);
  for (const auto& e : examples) std::fprintf(stderr, " %s", e.name);
  std::fprintf(stderr, "\n");
  return 2;
}
