#!/usr/bin/env python3
"""The compiler knows tiles, not models: no word of the kernels' domain stands in compiler/. A ctest runs this.

    scripts/check_words.py [ROOT]
    scripts/check_words.py --self-test
"""
import os
import re
import sys
import tempfile

WORDS = "attention softmax head heads token tokens latent rope v32 model1 mla kv_cache topk".split()
# camelCase, snake_case and plain text: a word ends where letters change case or stop.
SPLIT = re.compile(r"[A-Z]+(?=[A-Z][a-z])|[A-Z]?[a-z]+[0-9]*|[A-Z]+[0-9]*")
# Words with another meaning, as whole phrases.
FINE = re.compile(r"AsmToken|mlir::Token|async[ .:_]*token|!gpu\.async\.token|head of (the|a) (list|loop|file)", re.I)
# The PTX manual's word for what mbarrier.arrive returns and mbarrier.test_wait takes.
FINE_IN = {"token": re.compile(r"^compiler/(emulator|codegen|conversion/gpu)/\w*(mbarrier|channel)\w*\.")}
SOURCE = (".h", ".cpp", ".td", ".def", ".inc", ".txt")


def words_of(line):
    line = FINE.sub(" ", line)
    for m in SPLIT.finditer(line):
        word = m.group().lower()
        if word in WORDS:
            yield word
    for word in ("kv_cache",):
        if word in line.lower():
            yield word


def check(root):
    found, files = [], 0
    for base, _, names in os.walk(os.path.join(root, "compiler")):
        for name in sorted(names):
            if not name.endswith(SOURCE):
                continue
            files += 1
            path = os.path.join(base, name)
            with open(path, encoding="utf-8", errors="replace") as f:
                for number, line in enumerate(f, 1):
                    for word in words_of(line):
                        if word in FINE_IN and FINE_IN[word].match(os.path.relpath(path, root)):
                            continue
                        found.append(f"{os.path.relpath(path, root)}:{number}: the word '{word}'; the compiler is general, say it in terms of tiles, rows and dots")
    return found, files


def self_test():
    cases = {"int a;  // softmax of a row": 1, "void lowerAttention();": 1, "int num_heads = 1;": 1, "AsyncCopyOp rowGather;": 0,
             "overhead of a header ahead": 0, "if (layout == MODEL1)": 1, "a tokenizer": 0, "int kTokens;": 1, "async token of gpu": 0}
    bad = 0
    for line, count in cases.items():
        with tempfile.TemporaryDirectory() as root:
            os.makedirs(root + "/compiler")
            with open(root + "/compiler/x.cpp", "w") as f:
                f.write(line + "\n")
            n = len(check(root)[0])
        if bool(n) != bool(count):
            print(f"'{line}': found {n}, expected {count}")
            bad = 1
    print(f"{len(cases)} lines: {'FAILED' if bad else 'all told apart'}")
    return bad


def main():
    if sys.argv[1:] == ["--self-test"]:
        return self_test()
    root = sys.argv[1] if len(sys.argv) > 1 else os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
    found, files = check(root)
    print("\n".join(found + [f"{files} files of compiler/, {len(found)} words of the kernels' domain"]))
    return int(bool(found) or not files)


if __name__ == "__main__":
    sys.exit(main())
