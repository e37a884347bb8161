"""Static files of the core, the applications and the one library we serve, addressed by a hash of their content."""

import hashlib
import json
import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from importlib.resources import files
from mimetypes import guess_type
from pathlib import Path

from fastapi import APIRouter, Request, Response

from pressbox.core.app import AppManifest
from pressbox.core.errors import NotFoundError
from pressbox.core.web.compression import COMPRESSIBLE, SMALLEST, choose_encoding, compress
from pressbox.core.web.folders import CORE_PACKAGE, find_folders

STATIC_PATH = "/static"
HTMX = "htmx.min.js"
PREFETCH_RULES = "speculation.json"
# Modules of the frame, each after those it imports. Browsers get them as one file.
FRAME = ("times.js", "pulse.js", "keyboard.js", "search.js", "live.js", "phone.js", "frame.js", "follow.js")
BUNDLE = "core.js"

router = APIRouter(prefix=STATIC_PATH, include_in_schema=False)


@dataclass(frozen=True)
class Asset:
    body: bytes
    digest: str
    media_type: str

    @cache  # noqa: B019 - as many as there are files, and they stay as long as the process
    def encode(self, encoding: str) -> bytes:
        """The body compressed as small as it gets, once: it is sent for as long as this process lives."""
        return compress(self.body, encoding, thorough=True)

    @property
    def is_text(self) -> bool:
        return COMPRESSIBLE.match(self.media_type) is not None and len(self.body) >= SMALLEST


class StaticFiles:
    """A closed list of files by name: a path from outside is only ever a key of it, so there is nothing to traverse."""

    def __init__(self, packages: Iterable[str], never_prefetched: Sequence[str]) -> None:
        self._never_prefetched = never_prefetched
        self._paths: dict[str, Path] = {HTMX: Path(str(files("js_lib_htmx") / "static" / "htmx" / HTMX))}
        self._assets: dict[str, Asset] = {}
        for package in packages:
            for folder in find_folders(package, "static"):
                for path in sorted(folder.iterdir()):
                    self._add(path)

    def _add(self, path: Path) -> None:
        if path.name in self._paths:
            raise ValueError(f"Two static files are called {path.name}: {self._paths[path.name]} and {path}.")
        self._paths[path.name] = path

    @property
    def names(self) -> Sequence[str]:
        """All that browsers can ask for."""
        return (BUNDLE, *sorted(self._paths))

    def load(self, name: str) -> Asset:
        if name not in self._paths and name != BUNDLE:
            raise NotFoundError("There is no such file.", name=name)
        if name not in self._assets:
            body = self._read(name)
            self._assets[name] = Asset(body, hashlib.sha256(body).hexdigest()[:12], _media_type(name))
        return self._assets[name]

    def url(self, name: str) -> str:
        """Address of a file in this version of it: a browser may keep it for ever."""
        name = BUNDLE if name in FRAME else name
        return f"{STATIC_PATH}/{name}?v={self.load(name).digest}"

    def _read(self, name: str) -> bytes:
        if name == BUNDLE:
            return bundle({module: self._paths[module].read_text() for module in FRAME}).encode()
        body = self._paths[name].read_bytes()
        if name == PREFETCH_RULES:
            return _forbid_prefetch(body, self._never_prefetched)
        if name.endswith(".js") and name not in FRAME:
            # A second copy of a module would have a state of its own.
            return _FRAME_IMPORT.sub(f'from "{self.url(BUNDLE)}"', body.decode()).encode()
        return _minify(body) if name.endswith(".css") else body


def static_files(manifests: Sequence[AppManifest]) -> StaticFiles:
    packages = (CORE_PACKAGE, *(manifest.package for manifest in manifests if manifest.package))
    return _collect(packages, tuple(path for manifest in manifests for path in manifest.never_prefetched))


# The files of an installation do not change while it runs.
_collect = cache(StaticFiles)


_FRAME_IMPORT = re.compile(rf'from "\./(?:{"|".join(map(re.escape, FRAME))})"')
_IMPORT = re.compile(r'^import \{([^}]*)\} from "\./(\w+)\.js";$', re.MULTILINE)
_EXPORT = re.compile(r"^export ((?:async )?function|class|const) (\w+)", re.MULTILINE)


def bundle(modules: Mapping[str, str]) -> str:
    """One module of several, each in a scope of its own, in the given order."""
    parts, exports = [], []
    for file, text in modules.items():
        name = file.removesuffix(".js")
        names = ", ".join(match[2] for match in _EXPORT.finditer(text))
        inside = _EXPORT.sub(r"\1 \2", _IMPORT.sub(r"const {\1} = \2Module;", text))
        parts.append(f"const {name}Module = (() => {{\n{inside}\nreturn {{ {names} }};\n}})();")
        if names:
            exports.append(f"export const {{ {names} }} = {name}Module;")
    return "\n".join([*parts, *exports])


@router.get("/{name}")
async def static_file(request: Request, name: str) -> Response:
    asset = static_files(request.app.state.manifests).load(name)
    fixed = request.query_params.get("v") == asset.digest
    headers = {
        "ETag": f'"{asset.digest}"',
        # Modules import each other without the hash, so those requests ask whether the file is still the same.
        "Cache-Control": "public, max-age=31536000, immutable" if fixed else "no-cache",
    }
    encoding = choose_encoding(request.headers.get("accept-encoding", "")) if asset.is_text else None
    if asset.is_text:
        headers["Vary"] = "Accept-Encoding"
    if encoding is not None:
        headers |= {"ETag": f'"{asset.digest}-{encoding}"', "Content-Encoding": encoding}
    if request.headers.get("if-none-match") == headers["ETag"]:
        return Response(status_code=304, headers=headers)
    body = asset.body if encoding is None else asset.encode(encoding)
    return Response(body, headers=headers, media_type=asset.media_type)


def _minify(styles: bytes) -> bytes:
    """Remove comments, and the spaces and zeros that only people need. Spaces inside values stay."""
    text = re.sub(rb"/\*.*?\*/", b"", styles, flags=re.DOTALL)
    text = re.sub(rb"\s+", b" ", text)
    text = re.sub(rb" ?([{};,>]) ?", rb"\1", text)
    text = re.sub(rb"(?<=[ :,(-])0\.(?=\d)", b".", text)
    return re.sub(rb"(?<=[a-z-]): ", b":", text).replace(b";}", b"}").strip()


def _forbid_prefetch(rules: bytes, paths: Sequence[str]) -> bytes:
    written = json.loads(rules)
    written["prefetch"][0]["where"]["and"] += [{"not": {"href_matches": path}} for path in paths]
    return json.dumps(written).encode()


def _media_type(name: str) -> str:
    if name == PREFETCH_RULES:
        return "application/speculationrules+json"
    if name.endswith(".js"):
        return "text/javascript"
    return guess_type(name)[0] or "application/octet-stream"
