#!/usr/bin/env bash
# conda_engine.sh FOLDER: makes, once, two programs that conda layers are tested with:
#   FOLDER/conda/bin/conda        conda 4.3.16, the last that PyPI has, unchanged; conda_shims.py gives it what today's
#                                 Python has no more
#   FOLDER/mamba/bin/micromamba   micromamba_stand_in.py: micromamba's options and answers; solving and installing is done by
#                                 rattler, the conda client of the conda organisation
set -euo pipefail
folder=$1
here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
wanted="3 $(cat "$here/conda_shims.py" "$here/micromamba_stand_in.py" | sha256sum)"
[ "$(cat "$folder/complete" 2>/dev/null)" = "$wanted" ] && exit 0
mkdir -p "$(dirname "$folder")"
exec 9>"$folder.lock"
flock 9 # several tests may come at once
[ "$(cat "$folder/complete" 2>/dev/null)" = "$wanted" ] && exit 0
rm -rf "$folder"
mkdir -p "$folder/shims" "$folder/source" "$folder/conda/bin" "$folder/mamba/bin"
python=$folder/python
python3 -m venv "$python" >&2
"$python/bin/pip" install -q --disable-pip-version-check --no-input cytoolz==1.2.0 pycosat==0.6.6 requests==2.34.2 \
  ruamel.yaml==0.17.40 ruamel.yaml.clib==0.2.15 setuptools==65.5.0 wheel==0.48.0 py-rattler==0.28.0 >&2
cp "$here/conda_shims.py" "$folder/shims/sitecustomize.py"
# Its setup.py, which pip runs before it downloads, needs the shims, too.
PYTHONPATH=$folder/shims "$python/bin/pip" download -q --disable-pip-version-check --no-build-isolation --no-deps --no-binary :all: \
  --dest "$folder/source" conda==4.3.16 >&2
tar xzf "$folder/source/conda-4.3.16.tar.gz" -C "$folder/source"
cat >"$folder/conda/bin/conda" <<END
#!/bin/sh
export PYTHONPATH='$folder/shims:$folder/source/conda-4.3.16' PYTHONDONTWRITEBYTECODE=1
exec '$python/bin/python' -W ignore -c 'import sys
sys.argv[0] = "conda"
from conda.cli.main import main
sys.exit(main())' "\$@"
END
cat >"$folder/mamba/bin/micromamba" <<END
#!/bin/sh
exec '$python/bin/python' -I '$here/micromamba_stand_in.py' "\$@"
END
chmod +x "$folder/conda/bin/conda" "$folder/mamba/bin/micromamba"
printf '%s' "$wanted" >"$folder/complete"
