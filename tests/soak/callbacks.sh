#!/usr/bin/env bash
# callbacks.sh [keras] [lightning] [transformers]: the callbacks of the Python package in the frameworks themselves, each in a venv of its
# own, on the CPU. Without words all three are tried. Needs an index of pip; downloads about 150 MB for keras (with JAX), 350 MB for each
# of the others (with PyTorch). TORCH_INDEX: an index with PyTorch for the CPU. Ends with 77 where nothing could be installed.
set -euo pipefail
root=$(cd "$(dirname "${BASH_SOURCE[0]}")/../.." && pwd)
torch_index=${TORCH_INDEX:-https://download.pytorch.org/whl/cpu}
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
fail() { echo "callbacks: $*" >&2; exit 1; }
export PYTHONPATH=$root/src/python PYTHONDONTWRITEBYTECODE=1 CUDA_VISIBLE_DEVICES= HF_HUB_OFFLINE=1
unset "${!SABATH_@}"
tried=0

# in_venv NAME PACKAGES... : makes a venv with the packages; false where pip cannot.
in_venv() {
  local name=$1
  shift
  python3 -m venv "$work/$name"
  "$work/$name/bin/pip" install -q --disable-pip-version-check "$@" >"$work/$name.log" 2>&1 && return
  tail -n 3 "$work/$name.log" >&2
  echo "callbacks: $name cannot be installed here: not tried" >&2
  return 1
}
# holds NAME EXPRESSION: true of the lines that NAME's training has logged.
holds() {
  python3 - "$work/$1.jsonl" "$2" <<'END' || fail "$1: not true: $2"
import json, sys
lines = [json.loads(line) for line in open(sys.argv[1])]
for line in lines:
    print(line)
sys.exit(0 if eval(sys.argv[2]) else 1)
END
}

keras() {
  in_venv keras keras jax || return 0
  KERAS_BACKEND=jax SABATH_METRICS=$work/keras.jsonl "$work/keras/bin/python" - <<'END'
import keras, numpy, pysabath
x = numpy.random.default_rng(1).normal(size=(64, 4))
model = keras.Sequential([keras.layers.Input((4,)), keras.layers.Dense(1)])
model.compile(optimizer="sgd", loss="mse", metrics=["mae"])
model.fit(x, x.sum(axis=1), validation_split=0.25, epochs=3, batch_size=16, verbose=0, callbacks=[pysabath.callbacks.keras(each_batch=True)])
END
  holds keras 'len(lines) == 12 and sorted(lines[-1]) == sorted(["step", "epoch", "loss", "mae", "val_loss", "val_mae", "epoch_time"])'
  holds keras '[l["step"] for l in lines if "epoch" in l] == [3, 6, 9] and [l["step"] for l in lines if "batch/loss" in l] == list(range(1, 10))'
  tried=$((tried + 1))
}

lightning() {
  in_venv lightning --extra-index-url "$torch_index" "torch==${TORCH_VERSION:-2.7.1}+cpu" lightning || return 0
  (cd "$work" && SABATH_METRICS=$work/lightning.jsonl "$work/lightning/bin/python" - <<'END')
import lightning, pysabath, torch
class Model(lightning.LightningModule):
    def __init__(self):
        super().__init__()
        self.layer = torch.nn.Linear(4, 1)
    def training_step(self, batch, _):
        loss = torch.nn.functional.mse_loss(self.layer(batch[0]), batch[1])
        self.log("loss", loss)
        return loss
    def configure_optimizers(self):
        return torch.optim.SGD(self.parameters(), lr=0.01)
x = torch.randn(64, 4)
data = torch.utils.data.DataLoader(torch.utils.data.TensorDataset(x, x.sum(1, keepdim=True)), batch_size=16)
lightning.Trainer(max_epochs=3, accelerator="cpu", logger=pysabath.callbacks.lightning(), log_every_n_steps=2).fit(Model(), data)
END
  holds lightning 'len(lines) == 6 and all("loss" in l and l["step"] % 2 == 1 for l in lines) and {l["epoch"] for l in lines} == {0, 1, 2}'
  tried=$((tried + 1))
}

transformers() {
  in_venv transformers --extra-index-url "$torch_index" "torch==${TORCH_VERSION:-2.7.1}+cpu" transformers accelerate || return 0
  (cd "$work" && SABATH_METRICS=$work/transformers.jsonl "$work/transformers/bin/python" - <<'END')
import pysabath, torch, transformers
class Model(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.layer = torch.nn.Linear(4, 1)
    def forward(self, x, labels):
        out = self.layer(x)
        return {"loss": torch.nn.functional.mse_loss(out, labels), "logits": out}
x = torch.randn(64, 4)
data = [{"x": row, "labels": row.sum(0, keepdim=True)} for row in x]
arguments = transformers.TrainingArguments("out", num_train_epochs=2, per_device_train_batch_size=16, logging_steps=2, report_to=[],
                                           use_cpu=True, save_strategy="no", disable_tqdm=True)
transformers.Trainer(Model(), arguments, train_dataset=data, callbacks=[pysabath.callbacks.transformers()]).train()
END
  holds transformers '[l["step"] for l in lines if "loss" in l] == [2, 4, 6, 8] and all("learning_rate" in l for l in lines if "loss" in l)'
  holds transformers 'any("train_runtime" in l for l in lines)'
  tried=$((tried + 1))
}

for one in "${@:-keras lightning transformers}"; do
  for framework in $one; do
    case $framework in
      keras | lightning | transformers) "$framework" ;;
      *) fail "'$framework' is not keras, lightning or transformers" ;;
    esac
  done
done
[ $tried -gt 0 ] || exit 77
echo "callbacks: $tried frameworks log through them"
