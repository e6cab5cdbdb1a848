"""The exported models that tests compile: made once a build from test/Models, kept in the build folder."""

import functools
import hashlib
import os
import pathlib
import subprocess
import sys

SOURCE = pathlib.Path(__file__).resolve().parents[2]
BUILD = pathlib.Path(os.environ.get("FP8C_BUILD_DIR", SOURCE / "build"))
EXPORT = SOURCE / "test" / "Models" / "export.py"

LINEARS = ["bf16", "static", "dynamic", "row", "row_v2", "block", "weight_only", "delayed"]
MODELS = ([f"{model}_{linear}" for model in ("six_linears", "gated_mlp", "dit") for linear in LINEARS]
          + ["vit", "llama", "llama_torchao", "llama_torchao_tensor"])


@functools.lru_cache(maxsize=None)
def folder(core):
    """Where the exports of one dialect are; the folder's name holds a hash of what makes them."""
    digest = hashlib.sha256()
    for path in sorted(EXPORT.parent.glob("*.py")) + [SOURCE / "tools" / "dev" / "requirements.txt"]:
        digest.update(path.read_bytes())
    return BUILD / "test" / "models" / digest.hexdigest()[:16] / ("core" if core else "training")


class Model:
    """The files of one exported model."""

    def __init__(self, name, core=False):
        self.name, self.core = name, core
        self.calls = 3 if name.endswith("delayed") else 1
        self.stem = folder(core) / name
        if not self.file("pt2").exists():
            export([name], core)

    def file(self, suffix):
        return self.stem.parent / f"{self.name}.{suffix}"

    @property
    def max_distance(self):
        """The end-to-end bar: how far apart two right answers may be."""
        if self.name.startswith(("six_linears", "gated_mlp")):
            return 0.002
        return 0.02 if self.name.endswith("bf16") or self.name in ("vit", "llama") else 0.04


def export(names, core):
    """Exports models; `.pt2` files appear last, so that an interrupted export is made again."""
    out = folder(core)
    temporary = out.parent / f"{out.name}.{os.getpid()}"
    command = [sys.executable, str(EXPORT), str(temporary), "--trace", *(["--core"] if core else []), "--only", *names]
    subprocess.run(command, check=True, capture_output=True)
    out.mkdir(parents=True, exist_ok=True)
    for path in sorted(temporary.iterdir(), key=lambda p: p.suffix == ".pt2"):
        path.rename(out / path.name)
    temporary.rmdir()


if __name__ == "__main__":  # all at once: a tenth of the time of one process each
    for dialect in (False, True):
        missing = [name for name in MODELS if not (folder(dialect) / f"{name}.pt2").exists()]
        if missing:
            export(missing, dialect)
