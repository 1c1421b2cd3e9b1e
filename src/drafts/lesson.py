import argparse, os, random

parser = argparse.ArgumentParser()
parser.add_argument("--rate", type=float, default=0.1, help="learning rate")
parser.add_argument("--epochs", type=int, default=5)
arguments = parser.parse_args()

random.seed(int(os.environ.get("SABATH_SEED", "0")))
data = [(x, 3 * x + random.gauss(0, 0.1)) for x in (random.random() for _ in range(200))]
weight = random.random()
for epoch in range(arguments.epochs):
    for x, y in data:
        weight -= arguments.rate * (weight * x - y) * x
    loss = sum((weight * x - y) ** 2 for x, y in data) / len(data)
    print(f"epoch: {epoch} loss: {loss:.6f}")
