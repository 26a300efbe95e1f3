"""What scripts/setup.sh does on machines that are not this one: run with a PATH of stand-ins, so
that nothing is ever installed by the test."""

import pathlib
import shutil
import subprocess
import sys
import tempfile
import unittest

SETUP = pathlib.Path(__file__).resolve().parents[2] / "scripts" / "setup.sh"
REAL_TOOLS = ("bash", "env", "tr", "sort", "awk", "grep")

APT_GET = '#!/bin/bash\necho "apt-get $*"\nexit ${APT_STATUS:-0}\n'
DPKG_QUERY = """#!/bin/bash
shift 3
for package in "$@"; do
  case " $ABSENT " in *" $package "*) ;; *) echo "$package installed" ;; esac
done
exit 1
"""
ID = "#!/bin/bash\necho ${FAKE_UID:-0}\n"


class Setup(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.bin = pathlib.Path(folder.name)
        for tool in REAL_TOOLS:
            (self.bin / tool).symlink_to(shutil.which(tool))

    def stand_in(self, name, text):
        (self.bin / name).write_text(text)
        (self.bin / name).chmod(0o755)

    def debian(self):
        self.stand_in("apt-get", APT_GET)
        self.stand_in("dpkg-query", DPKG_QUERY)
        self.stand_in("id", ID)

    def run_setup(self, *purposes, **environment):
        done = subprocess.run(
            [str(SETUP), *purposes],
            env={"PATH": str(self.bin), **environment},
            capture_output=True,
            text=True,
            check=False,
        )
        return done.returncode, done.stdout, done.stderr

    def test_is_silent_when_nothing_is_missing(self):
        self.debian()
        self.assertEqual(self.run_setup("build", "test"), (0, "", ""))

    def test_installs_exactly_what_is_missing(self):
        self.debian()
        status, out, _ = self.run_setup("build", "lint", ABSENT="mold clang-tidy-19 valgrind")
        self.assertEqual(status, 0)
        installs = [line for line in out.splitlines() if line.startswith("apt-get install")]
        self.assertEqual(len(installs), 1)
        named = [word for word in installs[0].split()[2:] if not word.startswith("-")]
        self.assertEqual(named, ["clang-tidy-19", "mold"])

    def test_says_what_to_do_where_it_may_not_install(self):
        self.debian()
        status, out, err = self.run_setup("build", ABSENT="mold", FAKE_UID="1000")
        self.assertEqual((status, out), (1, ""))
        self.assertIn("apt-get install --no-install-recommends mold", err)

    def test_fails_when_apt_fails(self):
        self.debian()
        status, _, err = self.run_setup("build", ABSENT="mold", APT_STATUS="100")
        self.assertEqual(status, 1)
        self.assertIn("mold", err)

    def test_names_the_packages_on_another_system(self):
        status, out, err = self.run_setup("build")
        self.assertEqual((status, out), (1, ""))
        self.assertIn("not a Debian system", err)
        self.assertIn("libyaml-cpp-dev", err)

    def test_makes_sure_of_a_go_for_the_tools(self):
        self.debian()
        (self.bin / "dirname").symlink_to(shutil.which("dirname"))
        self.stand_in("python3", f'#!/bin/bash\nexec {sys.executable} "$@"\n')
        self.stand_in("go", """#!/bin/bash
            if [ "$1" != mod ]; then echo $FAKE_GO; exit; fi
            printf '{"Error": "cannot fetch %s"}' "$4"
            exit 1""")
        self.assertEqual(self.run_setup("tools", FAKE_GO="go1.99.1"), (0, "", ""))
        status, out, err = self.run_setup("tools", FAKE_GO="go1.19.8", HOME=str(self.bin))
        self.assertEqual((status, out), (1, ""))
        self.assertIn("cannot fetch golang.org/toolchain@v0.0.1-go1.", err)
        self.assertFalse((self.bin / ".cache").exists())

    def test_can_be_switched_off(self):
        self.assertEqual(self.run_setup("build", KNX_SETUP="off"), (0, "", ""))

    def test_refuses_a_purpose_it_does_not_know(self):
        self.debian()
        status, _, err = self.run_setup("baking")
        self.assertEqual(status, 1)
        self.assertIn("unknown purpose: baking", err)


if __name__ == "__main__":
    unittest.main()
