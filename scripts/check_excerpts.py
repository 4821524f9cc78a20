#!/usr/bin/env python3
"""Every code block of a document that names a file is an exact run of lines of that file. A ctest runs this.

A block names its file after the language: ```cpp examples/vector_add.cpp. Every program of examples/ is shown by some block.

    scripts/check_excerpts.py [ROOT]
    scripts/check_excerpts.py --self-test
"""
import glob
import os
import re
import sys
import tempfile

BLOCK = re.compile(r"^```\w+ +(\S+)\n(.*?)^```$", re.M | re.S)
NOT_SHOWN = ["examples/example.cpp", "examples/all.cpp"]  # what the programs share


def check(root):
    wrong, blocks, shown = [], 0, set()
    for document in sorted(glob.glob(os.path.join(root, "*.md")) + glob.glob(os.path.join(root, "docs/**/*.md"), recursive=True)):
        with open(document, encoding="utf-8") as f:
            text = f.read()
        for m in BLOCK.finditer(text):
            blocks += 1
            path, code = m.groups()
            where = f"{os.path.relpath(document, root)}:{text.count(chr(10), 0, m.start()) + 1}"
            if not os.path.isfile(os.path.join(root, path)):
                wrong.append(f"{where}: {path} does not exist")
                continue
            shown.add(path)
            with open(os.path.join(root, path), encoding="utf-8") as f:
                source = "\n" + f.read()
            if not code.strip() or "\n" + code not in source:
                parts = [l for l in code.splitlines() if "\n" + l + "\n" not in source]
                wrong.append(f"{where}: this is no excerpt of {path}" + (f"; it has no line '{parts[0].strip()}'" if parts else ""))
    for program in sorted(glob.glob(os.path.join(root, "examples/*.cpp"))):
        name = os.path.relpath(program, root)
        if name not in shown and name not in NOT_SHOWN:
            wrong.append(f"{name}: no document shows it")
    return wrong, blocks


def self_test():
    with tempfile.TemporaryDirectory() as root:
        os.makedirs(root + "/docs")
        os.makedirs(root + "/examples")
        for name in ("add", "gone_from_docs"):
            with open(f"{root}/examples/{name}.cpp", "w") as f:
                f.write("int f() {\n  return 1;\n}\n\nint g() { return 2; }\n")
        block = "```cpp examples/{}\n{}```\n"
        right = [block.format("add.cpp", "int f() {\n  return 1;\n}\n"), block.format("add.cpp", "}\n\nint g() { return 2; }\n"), "```\nfree text\n```\n"]
        planted = [("no line 'return 2;'", block.format("add.cpp", "int f() {\n  return 2;\n}\n")),  # another number
                   ("no line 'return 1;'", block.format("add.cpp", "return 1;\n")),  # another indent
                   ("t.md:22: this is no excerpt", block.format("add.cpp", "int f() {\n}\n")),  # a line left out
                   ("t.md:26: this is no excerpt", block.format("add.cpp", "")),  # nothing
                   ("examples/none.cpp does not exist", block.format("none.cpp", "int f();\n"))]
        with open(root + "/docs/t.md", "w") as f:
            f.write("".join(right))
        clean = [w for w in check(root)[0] if "gone_from_docs" not in w]
        with open(root + "/docs/t.md", "w") as f:
            f.write("".join(right + [text for _, text in planted]))
        wrong = check(root)[0]
    expected = [e for e, _ in planted] + ["gone_from_docs.cpp: no document shows it"]
    bad = [f"not found: {e}" for e in expected if not any(e in w for w in wrong)] + [f"reported, though right: {w}" for w in clean]
    print(f"{len(wrong)} faults found, {len(expected)} planted" + "".join("\n" + b for b in bad))
    if bad:
        print("\n".join(wrong))
    return int(bool(bad) or len(wrong) != len(expected))


def main():
    if sys.argv[1:] == ["--self-test"]:
        return self_test()
    root = sys.argv[1] if len(sys.argv) > 1 else os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
    wrong, blocks = check(root)
    print("\n".join(wrong + [f"{blocks} excerpts in documents, {len(wrong)} faults"]))
    return int(bool(wrong) or not blocks)


if __name__ == "__main__":
    sys.exit(main())
