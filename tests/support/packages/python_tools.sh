#!/usr/bin/env bash
# python_tools.sh FOLDER [PACKAGE...]: makes a Python environment with real tools that tests run, once; prints its bin
# folder. Without packages they are those of the fetchers. Versions are pinned here: aws-cli 1 is Python alone (Debian's package of it drags in a hundred others), moto is
# the S3 server that it talks to, globus-cli the client that the stand-in of the Transfer service answers.
set -euo pipefail
folder=$1
packages=("${@:2}")
[ ${#packages[@]} -gt 0 ] || packages=(awscli==1.46.3 moto[s3]==5.2.5 flask==3.1.3 flask-cors==6.0.5 globus-cli==3.43.0)
stamp=$folder/complete
wanted="${packages[*]}"
if [ "$(cat "$stamp" 2>/dev/null)" != "$wanted" ]; then
  mkdir -p "$(dirname "$folder")"
  exec 9>"$folder.lock"
  flock 9 # several tests may come at once
  if [ "$(cat "$stamp" 2>/dev/null)" != "$wanted" ]; then
    rm -rf "$folder"
    python3 -m venv "$folder" >&2
    "$folder/bin/pip" install -q --disable-pip-version-check --no-input "${packages[@]}" >&2
    printf '%s' "$wanted" >"$stamp"
  fi
fi
echo "$folder/bin"
