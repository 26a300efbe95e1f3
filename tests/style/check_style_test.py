"""Each rule of check_style.py on a sample that breaks it and on one that does not."""

import pathlib
import subprocess
import sys
import tempfile
import unittest

import check_style
import cpp_text

HEADER = "// What it is for.\n#pragma once\n"


def rules_for(texts, **more):
    """(path, line, rule) of all findings but those about the whole tree."""
    found = check_style.check_files({**texts, **more})
    of_tree = ("dead-file", "folder-table")
    return [(one.path, one.line, one.rule) for one in found if one.rule not in of_tree]


class Rule(unittest.TestCase):
    def fires(self, rule, path, text, line=1):
        self.assertIn((path, line, rule), rules_for({path: text}))

    def silent(self, path, text):
        self.assertEqual([], rules_for({path: text}))


class IncludeDirection(Rule):
    def test_goes_down_only(self):
        upward = (
            ("base", "k8s/objects.h"),
            ("k8s", "cluster/state.h"),
            ("cluster", "framework/plugin.h"),
            ("framework", "engine/queue.h"),
            ("plugins", "engine/queue.h"),
            ("engine", "plugins/registry.h"),
            ("engine", "observe/metrics.h"),
            ("observe", "sim/cluster.h"),
            ("sim", "cmd/demo.h"),
            ("sim", "live/driver.h"),
            ("scenario", "cluster/state.h"),
            ("live", "scenario/scenario.h"),
            ("net", "k8s/objects.h"),
            ("client", "cluster/state.h"),
            ("agent", "cluster/state.h"),
            ("webhook", "live/driver.h"),
        )
        for folder, target in upward:
            with self.subTest(folder=folder, target=target):
                self.fires("include-direction", f"src/{folder}/x.cc", f'#include "{target}"\n')

    def test_lets_a_folder_use_what_lies_below(self):
        downward = (
            ("k8s", "base/result.h"),
            ("engine", "cluster/state.h"),
            ("observe", "engine/queue.h"),
            ("scenario", "k8s/objects.h"),
            ("sim", "plugins/registry.h"),
            ("sim", "scenario/scenario.h"),
            ("live", "client/watch.h"),
            ("cmd", "sim/cluster.h"),
            ("engine", "engine/queue.h"),
        )
        for folder, target in downward:
            with self.subTest(folder=folder, target=target):
                self.silent(f"src/{folder}/x.cc", f'#include "{target}"\n')

    def test_lets_only_tests_of_the_engine_name_plugins(self):
        text = '#include "plugins/registry.h"\n'
        self.silent("src/engine/cycle_test.cc", text)
        self.silent("src/engine/testing/cluster.h", HEADER + text)
        self.fires("include-direction", "src/framework/profile_test.cc", text)

    def test_keeps_what_is_for_tests_to_tests(self):
        text = '#include "engine/testing/cluster.h"\n'
        self.fires("include-direction", "src/sim/x.cc", text)
        self.silent("src/sim/x_test.cc", text)
        self.silent("src/engine/testing/x.cc", text)

    def test_wants_paths_from_src_on(self):
        self.fires("include-direction", "src/base/x.cc", '#include "result.h"\n')
        self.fires("include-direction", "src/base/x.cc", '#include "tests/corpus/x.h"\n')
        self.silent("bench/engine/x.cc", '#include "workload.h"\n')

    def test_knows_the_folders(self):
        self.fires("include-direction", "src/stuff/x.cc", "int x;\n")

    def test_does_not_read_comments(self):
        self.silent("src/base/x.cc", '// #include "cmd/demo.h"\n/*\n#include "cmd/demo.h"\n*/\n')


class PluginIsolation(Rule):
    OTHER = '#include "plugins/kube/node_name/node_name.h"\n'

    def test_keeps_plugins_apart(self):
        self.fires("plugin-isolation", "src/plugins/kube/image_locality/x.cc", self.OTHER)
        self.fires("plugin-isolation", "src/plugins/nexus/numa/numa_test.cc", self.OTHER)
        self.fires("plugin-isolation", "src/plugins/shared_scores.cc", self.OTHER)

    def test_lets_the_registry_name_them_all(self):
        self.silent("src/plugins/registry.cc", self.OTHER)
        self.silent("src/plugins/default_profile_test.cc", self.OTHER)

    def test_lets_a_plugin_name_itself(self):
        self.silent("src/plugins/kube/node_name/node_name_test.cc", self.OTHER)
        self.silent("src/plugins/kube/node_name/x.cc", '#include "plugins/scores.h"\n')


class Headers(Rule):
    def test_need_pragma_once(self):
        self.fires("header", "src/base/x.h", "// What it is for.\nint x;\n")
        self.fires("header", "src/base/x.h", "// What it is for.\n// #pragma once\n")

    def test_say_what_they_are_for(self):
        self.fires("header", "src/base/x.h", "#pragma once\n")
        self.silent("src/base/x.h", HEADER)

    def test_name_no_heavy_library(self):
        for path in ("yaml-cpp/yaml.h", "simdjson.h", "CLI/CLI.hpp", "gtest/gtest.h"):
            with self.subTest(path=path):
                self.fires("header", "src/base/x.h", HEADER + f"#include <{path}>\n", line=3)
                self.silent("src/base/x.cc", f"#include <{path}>\n")
        for path in ("vector", "fmt/format.h", "absl/container/flat_hash_map.h"):
            self.silent("src/base/x.h", HEADER + f"#include <{path}>\n")
        self.silent("src/base/testing.h", HEADER + "#include <gtest/gtest.h>\n")

    def test_come_first_in_their_own_source(self):
        header = {"src/base/x.h": HEADER}
        wrong = '#include <vector>\n\n#include "base/x.h"\n'
        found = rules_for(header, **{"src/base/x.cc": wrong})
        self.assertEqual([("src/base/x.cc", 1, "own-header-first")], found)
        right = '// A comment.\n#include "base/x.h"\n\n#include <vector>\n'
        self.assertEqual([], rules_for(header, **{"src/base/x.cc": right}))
        self.assertEqual([], rules_for(header, **{"src/base/CMakeLists.txt": ""}))


class BannedWords(Rule):
    def test_fire_in_the_core(self):
        for code in (
            "co_await x;",
            "std::regex r;",
            "#include <regex>",
            "std::shared_ptr<int> p;",
            "auto p = std::make_shared<int>(1);",
            "auto t = std::chrono::system_clock::now();",
            "auto t = std::chrono::steady_clock::now();",
            "auto t = time(nullptr);",
            "std::thread t;",
            "int x = rand();",
            "srand (1);",
            "std::random_device d;",
            "#include <iostream>",
            "#include <fstream>",
        ):
            with self.subTest(code=code):
                self.fires("banned-word", "src/engine/x.cc", f"\n{code}\n", line=2)

    def test_fire_everywhere_where_nothing_excuses_them(self):
        for path in ("src/cmd/x.cc", "src/base/x_test.cc", "bench/x.cc", "tests/x.cc"):
            self.fires("banned-word", path, "co_return;\n")
            self.fires("banned-word", path, "std::regex r;\n")

    def test_know_where_the_machine_may_be_used(self):
        clock = "auto t = std::chrono::steady_clock::now();\nstd::thread t;\n"
        for path in ("src/cmd/x.cc", "src/live/x.cc", "src/net/x.cc", "bench/x.cc", "tests/x.cc"):
            self.silent(path, clock)
        self.silent("src/engine/x_test.cc", clock)
        self.fires("banned-word", "src/sim/x.cc", clock)
        self.fires("banned-word", "src/observe/x.cc", clock)
        self.silent("src/sim/thread_pool.cc", "std::thread t;\n")
        self.fires("banned-word", "src/sim/thread_pool.cc", "int x = rand();\n")
        self.silent("src/sim/x.cc", "std::shared_ptr<int> p;\n")
        self.silent("src/cmd/x.cc", "#include <iostream>\n")

    def test_do_not_fire_on_words_alike_or_quoted(self):
        self.silent("src/engine/x.cc", "int operand(int);\nint x = operand(1);\nint rand_seed;\n")
        self.silent("src/engine/x.cc", "// no co_await, no rand()\n")
        self.silent("src/engine/x.cc", 'auto s = "std::thread";\nauto r = R"(co_await)";\n')
        self.silent("src/engine/x.cc", "auto ns = 1'000'000;  // steady_clock isn't asked\n")
        self.silent("src/engine/x.cc", "char c = '\"'; /* rand() */ char d = '\"';\n")


class Names(Rule):
    def test_say_what_a_thing_is(self):
        self.fires("vague-name", "src/base/x.cc", "class QueueManager {};\n")
        self.fires("vague-name", "src/base/x.cc", "\nstruct ReaderImpl;\n", line=2)
        self.fires("vague-name", "src/base/string_utils.h", HEADER)
        self.silent("src/base/x.cc", "struct Implication {};\nstruct Utilisation {};\n")
        self.silent("src/base/utilisation.h", HEADER)


class Lengths(Rule):
    def test_of_lines(self):
        self.silent("src/base/x.cc", "//" + "x" * 98 + "\n")
        self.fires("columns", "src/base/x.cc", "//" + "x" * 99 + "\n")
        self.fires("columns", "tools/x.py", "# " + "x" * 99 + "\n")
        self.silent("src/base/x.cc", "// https://example.org/" + "x" * 99 + "\n")
        self.silent("src/base/x.cc", 'auto s = R"(\n' + "x" * 120 + '\n)";\n')
        self.silent("docs/x.md", "x" * 200 + "\n")
        self.silent("src/base/x.cc", "//" + "\N{GREEK SMALL LETTER MU}" * 98 + "\n")

    def test_of_files(self):
        self.silent("src/base/x.cc", "//\n" * 500)
        self.fires("file-length", "src/base/x.cc", "//\n" * 501, line=501)

    def test_of_functions(self):
        body = "  f();\n" * 68
        self.silent("src/base/x.cc", f"void F() {{\n{body}}}\n")
        self.fires("function-length", "src/base/x.cc", f"\nvoid F() {{\n{body}\n}}\n", line=2)

    def test_of_functions_of_every_kind(self):
        body = "{\n" + "  f();\n" * 70 + "}\n"
        for head in (
            "int main() ",
            'extern "C" int F(const char* data) ',
            "template <class T, class U = std::vector<T>>\nT F(T a = {}, int b = (1 + 2)) ",
            "auto F(int x) -> std::vector<int> ",
            "bool operator==(X a, X b) ",
            "X::X(int a) : a_{a}, b_(a) ",
            "X::~X() noexcept(false) ",
            "Result<int> X::Get(std::function<void(int)> f) const& noexcept ",
            "const auto kF = [](int x) ",
            "template <class T>\n  requires std::integral<T>\nT F(T a) ",
        ):
            with self.subTest(head=head):
                self.fires("function-length", "src/base/x.cc", head + body)
                inside = "namespace knx {\nclass X {\n public:\n" + head + body + "};\n}\n"
                self.fires("function-length", "src/base/x.cc", inside, line=4)

    def test_of_data_and_tests_do_not_count(self):
        rows = "{\n" + "  {1, 2},\n" * 90 + "}"
        for text in (
            f"constexpr Row kRows[] = {rows};\n",
            f"const auto kMap = Make({rows});\n",
            f"class X {{\n  std::function<int(int)> f_;\n  int rows_[90] = {rows};\n}};\n",
            "enum class E : std::uint8_t {\n" + "  kX,\n" * 90 + "};\n",
            "class X {\n" + "  void F() { g(); }\n" * 90 + "};\n",
            'auto s = R"x(void F() {)x";\n' + "int x;\n" * 90,
        ):
            with self.subTest(text=text[:40]):
                self.silent("src/base/x.cc", text)
        for head in ("TEST(Queue, KeepsOrder)", "TEST_P(A, B)", "std::vector<Row> AllCases()"):
            with self.subTest(head=head):
                text = f"{head} {{\n  const Row rows[] = {rows};\n}}\n"
                self.silent("src/base/x_test.cc", text)
                self.fires("function-length", "src/base/x.cc", text)

    def test_of_python_functions(self):
        self.silent("tools/x.py", "def f():\n" + "    g()\n" * 69)
        self.fires("function-length", "tools/x.py", "def f():\n" + "    g()\n" * 70)
        self.fires("function-length", "tools/x.py", "def f(:\n")

    def test_take_the_first_branch_of_a_condition(self):
        text = "#if A\nvoid F() {\n#else\nvoid F(int x) {\n#endif\n  g();\n}\n"
        self.silent("src/base/x.cc", text)
        self.fires("function-length", "src/base/x.cc", "void F() {\n")


class Text(Rule):
    def test_is_finished(self):
        for word in ("TO" + "DO", "FIX" + "ME", "X" * 3):
            self.fires("unfinished", "src/base/x.cc", f"// {word}: later\n")
            self.fires("unfinished", "docs/x.md", f"\n{word}\n", line=2)
        self.silent("docs/x.md", "TO" + "DOS, " + "X" * 4 + "\n")

    def test_names_no_place_of_ours(self):
        for text in ("/ho" + "me/ann/x", "see ../sha" + "red/notes", "in this ses" + "sion"):
            self.fires("place", "docs/x.md", text + "\n")
        self.silent("docs/x.md", "https://example.org/ho" + "me/ann and a TLS session\n")


class Links(Rule):
    def test_lead_somewhere(self):
        self.fires("dead-link", "docs/x.md", "\n[a](../y.md)\n", line=2)
        self.fires("dead-link", "docs/x.md", "[a](y.md#part)\n")
        self.silent("docs/x.md", "[a](https://example.org/y.md) [b](#part) [c](x.md#part)\n")
        there = {"docs/x.md": "[a](../y.md)\n", "y.md": ""}
        self.assertEqual([], rules_for(there))


class Tree(unittest.TestCase):
    GOOD = {
        "src/README.md": "| `base/` | vocabulary | nothing |\n| k8s/ | objects | base |\n",
        "src/CMakeLists.txt": "add_subdirectory(base)\nadd_subdirectory(k8s)\n",
        "src/base/CMakeLists.txt": "knx_module(base)\n",
        "src/base/x.h": HEADER,
        "src/base/x.cc": '#include "base/x.h"\n',
        "src/k8s/CMakeLists.txt": "knx_module(k8s)\n",
        "src/k8s/y.cc": '#include "base/x.h"\n',
        "tests/CMakeLists.txt": "add_executable(replay corpus/replay.cc)\n",
        "tests/corpus/replay.cc": "int main() {}\n",
    }

    def findings(self, **change):
        files = {**self.GOOD, **change}
        return [str(one) for one in check_style.check_files(files)]

    def test_that_is_in_order_gives_nothing(self):
        self.assertEqual([], self.findings())

    def test_has_no_source_that_is_not_built(self):
        dead = "1: [dead-file] no CMake file builds this"
        for path in ("src/cel/z.cc", "tests/z.cc", "bench/z.cc", "src/base/z_bench.cc"):
            with self.subTest(path=path):
                self.assertIn(f"{path}:{dead}", self.findings(**{path: "int z;\n"}))
        globbed = {"bench/CMakeLists.txt": "file(GLOB sources *.cc)\n", "bench/z.cc": "int z;\n"}
        self.assertEqual([], self.findings(**globbed))

    def test_has_no_header_that_nobody_includes(self):
        dead = "src/base/z.h:1: [dead-file] nothing includes this header"
        self.assertEqual([dead], self.findings(**{"src/base/z.h": HEADER}))

    def test_has_a_row_for_every_folder(self):
        found = self.findings(**{"src/README.md": "| base/ | vocabulary | nothing |\n"})
        self.assertEqual(["src/README.md:1: [folder-table] no row for k8s/"], found)

    def test_says_in_the_row_what_the_rule_says(self):
        rows = self.GOOD["src/README.md"].replace("| base |", "| base, cel |")
        found = self.findings(**{"src/README.md": rows})
        self.assertEqual(["src/README.md:2: [folder-table] k8s/ may include base"], found)


class Program(unittest.TestCase):
    def run_on(self, texts):
        with tempfile.TemporaryDirectory() as folder:
            for path, text in texts.items():
                target = pathlib.Path(folder, path)
                target.parent.mkdir(parents=True, exist_ok=True)
                target.write_text(text, encoding="utf-8")
            done = subprocess.run(
                [sys.executable, check_style.__file__, folder],
                capture_output=True, text=True, check=False,
            )
            return done.returncode, done.stdout

    def test_fails_and_prints_what_it_found(self):
        status, out = self.run_on({**Tree.GOOD, "src/k8s/y.cc": "std::regex r;\n"})
        self.assertEqual(1, status)
        self.assertIn("src/k8s/y.cc:1: [banned-word] std::regex: slow, and it throws", out)

    def test_passes_over_what_is_not_ours(self):
        foreign = {
            "build/release/x.cc": "std::regex r;\n",
            ".git/x.md": "std::regex r;\n",
            "tests/corpus/a_fuzz/x.yaml": "X" * 3 + "\n",
        }
        self.assertEqual((0, ""), self.run_on({**Tree.GOOD, **foreign}))


class CppText(unittest.TestCase):
    def test_code_only_keeps_every_position(self):
        text = 'int a = 1\'000; // "x\nauto s = R"(\n{)" "\\"{" /* { */;\nchar c = \'{\';\n'
        code = cpp_text.code_only(text)
        self.assertEqual(len(text), len(code))
        self.assertEqual(text.count("\n"), code.count("\n"))
        self.assertNotIn("{", code)
        self.assertIn("1'000;", code)


if __name__ == "__main__":
    unittest.main()
