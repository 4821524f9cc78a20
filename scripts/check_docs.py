#!/usr/bin/env python3
"""Every path that a document names exists, and the README begins with the two commands it should. A ctest runs this.

A path is a word in `backticks`, in a code block or in a link that starts with a folder of the project. `dir/**`, `<name>` and `NAME`
patterns match any file. Build outputs (build/, dist/) are not looked for.

    scripts/check_docs.py [ROOT]
    scripts/check_docs.py --self-test
"""
import glob
import os
import re
import sys
import tempfile

FOLDERS = "api bench cmake compiler docs examples kernels_dsl python runtime scripts tests third_party tools .ci".split()
PATH = re.compile(r"(?<![\w/.])(?:%s)/[\w./*<>{},+-]*" % "|".join(re.escape(f) for f in FOLDERS))
LINK = re.compile(r"\]\(([^)#\s]+)[^)]*\)")
QUICK = ("scripts/quickstart", "scripts/test")


def documents(root):
    for pattern in ("*.md", "docs/**/*.md", "third_party/*.md", "examples/**/*.md", "tests/**/*.md"):
        yield from sorted(glob.glob(os.path.join(root, pattern), recursive=True))


def expand(path):
    m = re.search(r"\{([^{}]*)\}", path)
    if not m:
        return [path]
    return [p for part in m.group(1).split(",") for p in expand(path[: m.start()] + part + path[m.end():])]


def exists(root, path):
    pattern = re.sub(r"<[^>]*>|\b[A-Z]{3,}\b(?!\.md)", "*", path)
    return bool(glob.glob(os.path.join(root, pattern), recursive=True))


def check(root):
    wrong, paths = [], 0
    for document in documents(root):
        name = os.path.relpath(document, root)
        with open(document, encoding="utf-8") as f:
            text = f.read()
        fenced = False
        for number, line in enumerate(text.splitlines(), 1):
            for found in PATH.findall(line):
                for path in expand(found.rstrip(".,-")):
                    paths += 1
                    if "<" not in path and not exists(root, path):
                        wrong.append(f"{name}:{number}: {path} does not exist")
            fenced ^= line.startswith("```")
            for link in LINK.findall(line) if not fenced else ():
                if "://" in link:
                    continue
                paths += 1
                if not os.path.exists(os.path.join(os.path.dirname(document), link)):
                    wrong.append(f"{name}:{number}: the link to {link} leads nowhere")
    readme = os.path.join(root, "README.md")
    if os.path.exists(readme):
        with open(readme, encoding="utf-8") as f:
            commands = [l.strip() for block in re.findall(r"```\w*\n(.*?)```", f.read(), re.S) for l in block.splitlines() if l.strip()]
        if tuple(c.split()[0] for c in commands[:2]) != QUICK:
            wrong.append(f"README.md: the first two commands are {commands[:2]}, not {' and '.join(QUICK)}")
    else:
        wrong.append("README.md is missing")
    return wrong, paths


def self_test():
    with tempfile.TemporaryDirectory() as root:
        os.makedirs(root + "/docs")
        os.makedirs(root + "/runtime/base")
        open(root + "/runtime/base/result.h", "w").close()
        with open(root + "/README.md", "w") as f:
            f.write("```\nscripts/test\nscripts/quickstart\n```\n[a](docs/none.md) `runtime/base/{result,gone}.h` runtime/base/*.h\n```\n[](code)\n```\n")
        wrong = check(root)[0]
    expected = ["none.md does not", "none.md leads", "gone.h does not", "scripts/test does not", "scripts/quickstart does not", "first two commands"]
    bad = [e for e in expected if not any(e in w for w in wrong)]
    print(f"{len(wrong)} faults found, {len(expected)} planted" + ("".join(f"\nnot found: {b}" for b in bad)))
    return int(bool(bad) or len(wrong) != len(expected))


def main():
    if sys.argv[1:] == ["--self-test"]:
        return self_test()
    root = sys.argv[1] if len(sys.argv) > 1 else os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
    wrong, paths = check(root)
    print("\n".join(wrong + [f"{paths} paths in documents, {len(wrong)} wrong"]))
    return int(bool(wrong) or not paths)


if __name__ == "__main__":
    sys.exit(main())
