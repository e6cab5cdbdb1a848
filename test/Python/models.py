"""The exported models that tests compile: made once from test/Models, kept in the build folder."""

import fcntl
import functools
import hashlib
import os
import pathlib
import subprocess
import sys

# The sizes of references beside those of the export, see test/Models/sizes.py.
SIZES = ["ones", "two", "prime", "long", "mixed"]

SOURCE = pathlib.Path(__file__).resolve().parents[2]
BUILD = pathlib.Path(os.environ.get("FP8C_BUILD_DIR", SOURCE / "build"))
EXPORT = SOURCE / "test" / "Models" / "export.py"

LINEARS = ["bf16", "static", "dynamic", "row", "row_v2", "block", "weight_only", "delayed"]
MODELS = ([f"{model}_{linear}" for model in ("six_linears", "gated_mlp", "dit") for linear in LINEARS]
          + ["vit", "llama", "llama_torchao", "llama_torchao_tensor"])


@functools.lru_cache(maxsize=None)
def root():
    """Where the exports are; the folder's name holds a hash of what makes them."""
    digest = hashlib.sha256()
    for path in sorted(EXPORT.parent.glob("*.py")) + [SOURCE / "tools" / "dev" / "requirements.txt"]:
        digest.update(path.read_bytes())
    return BUILD / "test" / "models" / digest.hexdigest()[:16]


class Model:
    """An exported model, in the training dialect or in core ATen, and its files."""

    def __init__(self, name, core=False):
        self.name, self.core = name, core
        self.has_state = name.endswith("delayed")
        self.calls = 3 if self.has_state else 1

    def __str__(self):
        return f"{self.name}-{'core' if self.core else 'training'}"

    @property
    def folder(self):
        return root() / ("core" if self.core else "training")

    def file(self, kind, size=None):
        """`kind` is pt2, inputs, outputs, trace, start or state."""
        stem = f"{self.name}.{size}" if size else self.name
        return self.folder / (f"{stem}.pt2" if kind == "pt2" else f"{stem}.{kind}.safetensors")

    @property
    def exact_state(self):
        """Whether histories are exact end to end, not in lock-step alone: no attention before them."""
        return self.name in ("six_linears_delayed", "gated_mlp_delayed")

    @property
    def max_distance(self):
        """The end-to-end bar: how far apart two right answers may be."""
        if self.name.startswith(("six_linears", "gated_mlp")):
            return 0.002
        return 0.02 if self.name.endswith("bf16") or self.name in ("vit", "llama") else 0.04


def all_models():
    return [Model(name, core) for core in (False, True) for name in MODELS]


def export(models):
    """Exports what is missing, one process a dialect. One caller at a time; the next one finds the files."""
    folder = root()
    folder.mkdir(parents=True, exist_ok=True)
    with open(folder / "lock", "w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        running = []
        for core in (False, True):
            missing = sorted({m.name for m in models if m.core == core and not m.file("pt2").exists()}, key=MODELS.index)
            if missing:
                out = Model("", core).folder
                running.append((out, start_export(out, core, missing)))
        for out, process in running:
            _, errors = process.communicate()
            assert process.returncode == 0, f"exporting to {out} failed:\n{errors}"
            keep(out)


def start_export(out, core, names):
    temporary = out.with_suffix(".new")
    command = [sys.executable, str(EXPORT), str(temporary), "--trace", "--sizes", *(["--core"] if core else []), "--only", *names]
    # Tiny models: more threads would only get into each other's way.
    return subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True,
                            env=dict(os.environ, OMP_NUM_THREADS="1"))


def keep(out):
    """`.pt2` files appear last, so that an interrupted export is made again."""
    temporary = out.with_suffix(".new")
    out.mkdir(exist_ok=True)
    for path in sorted(temporary.iterdir(), key=lambda p: p.suffix == ".pt2"):
        path.rename(out / path.name)
    temporary.rmdir()
