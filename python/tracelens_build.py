"""The build backend of the Python packages: the standard library, CMake and a compiler are all it needs.

    pip install .                                        # compiles below build/, as long as that takes
    pip install . --config-settings TRACELENS_LTO=ON     # -DTRACELENS_LTO=ON for CMake
    pip install . --config-settings build-dir=build/check   # a folder that is configured already

`build-dir` may also come from the environment as TRACELENS_BUILD_DIR: what is built there is not
compiled again. An editable installation points at that folder, so that `cmake --build` renews it.

    python3 python/tracelens_build.py metadata PROJECT FOLDER

writes the `.dist-info` of a project (a folder with a pyproject.toml) for the Debian package.
"""
import base64
import contextlib
import gzip
import hashlib
import importlib.metadata
import io
import os
import pathlib
import re
import subprocess
import sys
import sysconfig
import tarfile
import tempfile
import time
import tomllib
import zipfile

ROOT = pathlib.Path(__file__).resolve().parent.parent
EPOCH = max(int(os.environ.get("SOURCE_DATE_EPOCH", 315532800)), 315532800)  # 1980: zip knows no earlier


class Project:
    """A folder with a pyproject.toml, and what a wheel of it says about itself."""

    def __init__(self, folder):
        self.folder = pathlib.Path(folder)
        self.about = tomllib.loads(self.read("pyproject.toml"))["project"]
        self.name = re.sub("[-_.]+", "_", self.about["name"])
        self.version = self.find_version()
        self.dist_info = f"{self.name}-{self.version}.dist-info"

    def read(self, name):
        return (self.folder / name).read_text(encoding="utf-8")

    def find_version(self):
        """From CMakeLists.txt, the only place; a source archive of python/compat has its PKG-INFO."""
        try:
            return re.search(r"^Version: (.+)$", self.read("PKG-INFO"), re.MULTILINE)[1]
        except FileNotFoundError:
            text = (ROOT / "CMakeLists.txt").read_text(encoding="utf-8")
            return re.search(r"project\(TraceLens VERSION ([0-9.]+)", text)[1]

    def dependencies(self):
        return self.about.get("dependencies", [])

    def metadata(self):
        about = self.about
        lines = ["Metadata-Version: 2.1", f"Name: {about['name']}", f"Version: {self.version}",
                 f"Summary: {about['description']}", f"License: {about['license']['text']}"]
        lines += [f"Classifier: {classifier}" for classifier in about["classifiers"]]
        lines += [f"Requires-Python: {about['requires-python']}"]
        lines += [f"Requires-Dist: {requirement}" for requirement in self.dependencies()]
        for extra, requirements in about.get("optional-dependencies", {}).items():
            lines += [f"Provides-Extra: {extra}"]
            lines += [f'Requires-Dist: {requirement} ; extra == "{extra}"' for requirement in requirements]
        text = "\n".join(lines) + "\n"
        if "readme" in about:
            text = f"{text}Description-Content-Type: text/markdown\n\n{self.read(about['readme'])}"
        return text

    def entry_points(self):
        scripts = self.about.get("scripts", {})
        return "[console_scripts]\n" + "".join(f"{name} = {call}\n" for name, call in scripts.items())

    def tag(self):
        return "py3-none-any"

    def wheel(self):
        pure = "true" if self.tag().endswith("-any") else "false"
        return f"Wheel-Version: 1.0\nGenerator: tracelens_build\nRoot-Is-Purelib: {pure}\nTag: {self.tag()}\n"

    def write_dist_info(self, folder, **more):
        info = pathlib.Path(folder) / self.dist_info
        info.mkdir(parents=True, exist_ok=True)
        files = {"METADATA": self.metadata(), "WHEEL": self.wheel(),
                 "entry_points.txt": self.entry_points(), **more}
        for name, text in files.items():
            (info / name).write_text(text, encoding="utf-8")
        return self.dist_info

    def write_wheel(self, folder, files):
        """`files`: {path inside: bytes}. Same files, same bytes."""
        info = self.dist_info
        files = dict(sorted(files.items()))
        files[f"{info}/entry_points.txt"] = self.entry_points().encode()
        files[f"{info}/METADATA"] = self.metadata().encode()
        files[f"{info}/WHEEL"] = self.wheel().encode()
        record = [f"{path},{digest(content)},{len(content)}" for path, content in files.items()]
        files[f"{info}/RECORD"] = "\n".join([*record, f"{info}/RECORD,,", ""]).encode()
        name = f"{self.name}-{self.version}-{self.tag()}.whl"
        with zipfile.ZipFile(pathlib.Path(folder) / name, "w", zipfile.ZIP_DEFLATED) as wheel:
            for path, content in files.items():
                entry = zipfile.ZipInfo(path, date_time=time.gmtime(EPOCH)[:6])
                entry.compress_type = zipfile.ZIP_DEFLATED
                entry.external_attr = (0o100755 if path.endswith((".so", "/bin/tracelens")) else 0o100644) << 16
                wheel.writestr(entry, content)
        return name

    def files(self, config_settings):
        """{path inside: bytes} of the packages in the wheel."""
        return tree(self.packages(config_settings))

    def source_files(self):
        """{path in the archive: file} of what git tracks below the project; without git, of all."""
        with contextlib.suppress(OSError, subprocess.CalledProcessError):
            listed = subprocess.run(["git", "ls-files", "-z"], cwd=self.folder, check=True, text=True,
                                    capture_output=True).stdout
            return {path: self.folder / path for path in listed.split("\0")
                    if path and (self.folder / path).is_file()}
        return {str(path.relative_to(self.folder)): path for path in self.folder.rglob("*")
                if path.is_file() and not {"build", "__pycache__"} & set(path.relative_to(self.folder).parts)}

    # --- the hooks: https://peps.python.org/pep-0517/ and 0660 --------------------------------------

    def prepare_metadata_for_build_wheel(self, metadata_directory, config_settings=None):
        return self.write_dist_info(metadata_directory)

    prepare_metadata_for_build_editable = prepare_metadata_for_build_wheel

    def build_wheel(self, wheel_directory, config_settings=None, metadata_directory=None):
        return self.write_wheel(wheel_directory, self.files(config_settings))

    def build_editable(self, wheel_directory, config_settings=None, metadata_directory=None):
        packages = str(self.packages(config_settings))
        return self.write_wheel(wheel_directory, {f"{self.name}.pth": f"{packages}\n".encode()})

    def build_sdist(self, sdist_directory, config_settings=None):
        root = f"{self.name}-{self.version}"
        files = {path: file.read_bytes() for path, file in self.source_files().items()}
        files["PKG-INFO"] = self.metadata().encode()
        executable = {path for path, file in self.source_files().items() if os.access(file, os.X_OK)}
        with (open(pathlib.Path(sdist_directory) / f"{root}.tar.gz", "wb") as out,
              gzip.GzipFile(fileobj=out, mode="wb", mtime=EPOCH) as packed,
              tarfile.open(fileobj=packed, mode="w", format=tarfile.PAX_FORMAT) as archive):
            for path, content in sorted(files.items()):
                entry = tarfile.TarInfo(f"{root}/{path}")
                entry.size, entry.mtime = len(content), EPOCH
                entry.mode = 0o755 if path in executable else 0o644
                archive.addfile(entry, io.BytesIO(content))
        return f"{root}.tar.gz"


class Native(Project):
    """tracelens-native: CMake builds the target `tl_python` and lays the package out."""

    def tag(self):
        python = f"cp{sys.version_info.major}{sys.version_info.minor}"
        return f"{python}-{python}-{re.sub('[-.]', '_', sysconfig.get_platform())}"

    def build(self, config_settings):
        """The folder in which CMake has built the package."""
        settings = dict(config_settings or {})
        build = settings.pop("build-dir", os.environ.get("TRACELENS_BUILD_DIR"))
        build = pathlib.Path(build or f"build/wheel-{sys.implementation.cache_tag}")
        build = build if build.is_absolute() else self.folder / build
        definitions = [definition(key, value) for key, value in settings.items()]
        if definitions or not (build / "CMakeCache.txt").exists():
            run("cmake", "-G", "Ninja", "-S", self.folder, "-B", build, "-DTRACELENS_PYTHON=ON",
                "-DTRACELENS_DEV=OFF", f"-DPython3_EXECUTABLE={sys.executable}",
                f"-DPython_EXECUTABLE={sys.executable}", "--no-warn-unused-cli", *definitions)
        run("cmake", "--build", build, "--target", "tl_python", "tracelens")
        suffix = sysconfig.get_config_var("EXT_SUFFIX")
        module = build / "python" / "tracelens" / f"_native{suffix}"
        if not module.exists():
            sys.exit(f"tracelens_build: {build} was configured for another Python than {sys.executable}: "
                     f"{module} is not there; take another build-dir")
        return build

    def packages(self, config_settings):
        return self.build(config_settings) / "python"

    def files(self, config_settings):
        """What CMake installs: one list for the wheel and the Debian package (cmake/packaging.cmake)."""
        build = self.build(config_settings)
        with tempfile.TemporaryDirectory() as folder:
            for component in ("python", "python_program"):
                run("cmake", "--install", build, "--component", component, "--prefix", folder, "--strip")
            return tree(pathlib.Path(folder) / "lib" / "python3" / "dist-packages")


class Compat(Project):
    """tracelens-compat: Python alone, beside a tracelens-native of the same version."""

    def dependencies(self):
        return [f"tracelens-native=={self.version}", "pandas"]

    def packages(self, config_settings):
        for folder in site_folders():
            refuse_foreign(folder)
        return self.folder

    def source_files(self):
        return {**super().source_files(), "tracelens_build.py": pathlib.Path(__file__).resolve()}


def site_folders():
    """Where this Python finds packages: pip hides them from a build, so that they cannot be imported."""
    folders = {sysconfig.get_path(kind) for kind in ("purelib", "platlib")}
    with contextlib.suppress(OSError):
        if "include-system-site-packages = true" in (pathlib.Path(sys.prefix) / "pyvenv.cfg").read_text():
            folders.update(["/usr/lib/python3/dist-packages",
                            f"/usr/local/lib/python3.{sys.version_info.minor}/dist-packages",
                            *(sysconfig.get_path("purelib", vars={"base": sys.base_prefix}),)])
    return sorted(folders)


def refuse_foreign(folder):
    """Two distributions with the same files would overwrite each other, and neither could be removed."""
    package = pathlib.Path(folder) / "TraceLens" / "__init__.py"
    if package.exists() and "__tracelens_native__" not in package.read_text(encoding="utf-8"):
        sys.exit(f"tracelens_build: {package.parent} is another TraceLens, whose files these would replace: "
                 "run 'pip uninstall TraceLens' first, or install into another virtual environment")
    for found in importlib.metadata.distributions(name="TraceLens", path=[str(folder)]):
        sys.exit(f"tracelens_build: the Python TraceLens {found.version} is installed in {folder}: "
                 "run 'pip uninstall TraceLens' first, or install into another virtual environment")


def definition(key, value):
    """A setting for CMake: `TRACELENS_LTO=ON`, or with its -D."""
    key = key.removeprefix("-D")
    if not re.fullmatch("[A-Z][A-Za-z0-9_]*", key) or not isinstance(value, str):
        sys.exit(f"tracelens_build: no setting is called {key}; there are build-dir=FOLDER and those of "
                 "CMake, in capitals: TRACELENS_LTO=ON")
    return f"-D{key}={value}"


def tree(folder):
    """{path: bytes} of the packages in `folder`, without byte code and what stands beside them."""
    packages = [path for path in sorted(folder.iterdir()) if (path / "__init__.py").exists()]
    return {str(path.relative_to(folder)): path.read_bytes() for package in packages
            for path in package.rglob("*") if path.is_file() and "__pycache__" not in path.parts}


def digest(content):
    return "sha256=" + base64.urlsafe_b64encode(hashlib.sha256(content).digest()).rstrip(b"=").decode()


def run(*command):
    """What is written to standard output would be read by who called the hook."""
    environment = {name: value for name, value in os.environ.items() if name != "DESTDIR"}
    done = subprocess.run([str(word) for word in command], stdout=sys.stderr, env=environment)
    if done.returncode != 0:
        sys.exit(f"tracelens_build: {' '.join(map(str, command[:3]))} failed; see above")


native = Native(ROOT) if (ROOT / "pyproject.toml").exists() else None  # none in tracelens-compat's archive

if __name__ == "__main__":
    if len(sys.argv) != 4 or sys.argv[1] != "metadata":
        sys.exit(__doc__)
    kind = Compat if pathlib.Path(sys.argv[2]).name == "compat" else Native
    kind(sys.argv[2]).write_dist_info(sys.argv[3], INSTALLER="debian\n")
