#!/usr/bin/env python3
"""Writes an OCI image layout (image-spec 1.0) of one layer from a root file system.

    oci_layout.py ROOTFS.tar FOLDER
"""
import gzip
import hashlib
import json
import pathlib
import platform
import shutil
import sys

ENTRY = ["/usr/bin/cairnd"]
# Without other arguments: worlds on a volume, and on it the socket for clients.
ARGUMENTS = ["--data", "/var/lib/cairnd", "--unix", "/var/lib/cairnd/cairnd.sock"]
ARCHITECTURES = {"x86_64": "amd64", "aarch64": "arm64"}


def add(folder, data):
    """Stores a blob; returns its descriptor without the media type."""
    digest = hashlib.sha256(data).hexdigest()
    (folder / "blobs" / "sha256" / digest).write_bytes(data)
    return {"digest": f"sha256:{digest}", "size": len(data)}


def main():
    layer = pathlib.Path(sys.argv[1]).read_bytes()
    folder = pathlib.Path(sys.argv[2])
    shutil.rmtree(folder, ignore_errors=True)
    (folder / "blobs" / "sha256").mkdir(parents=True)
    packed = add(folder, gzip.compress(layer, 6, mtime=0))
    config = {
        "architecture": ARCHITECTURES[platform.machine()], "os": "linux",
        "config": {"User": "cairn", "Entrypoint": ENTRY, "Cmd": ARGUMENTS, "StopSignal": "SIGTERM",
                   "ExposedPorts": {"7411/tcp": {}, "7412/tcp": {}},
                   "Volumes": {"/var/lib/cairnd": {}}},
        "rootfs": {"type": "layers", "diff_ids": ["sha256:" + hashlib.sha256(layer).hexdigest()]},
    }
    described = add(folder, json.dumps(config).encode())
    manifest = {
        "schemaVersion": 2, "mediaType": "application/vnd.oci.image.manifest.v1+json",
        "config": {"mediaType": "application/vnd.oci.image.config.v1+json", **described},
        "layers": [{"mediaType": "application/vnd.oci.image.layer.v1.tar+gzip", **packed}],
    }
    image = add(folder, json.dumps(manifest).encode())
    index = {"schemaVersion": 2, "manifests": [{"mediaType": manifest["mediaType"], **image,
                                                "annotations": {"org.opencontainers.image.ref.name": "cairn"}}]}
    (folder / "index.json").write_text(json.dumps(index))
    (folder / "oci-layout").write_text('{"imageLayoutVersion": "1.0.0"}')


if __name__ == "__main__":
    main()
