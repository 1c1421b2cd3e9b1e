"""The state of a pendulum a fixed time later, learnt from its state now; arguments: STEPS SEED."""

import json
import os
import sys

import jax
import jax.numpy as jnp

TIME, SUBSTEPS = 0.5, 50


def pendulum(state):
    def step(state, _):
        angle, speed = state
        speed = speed - jnp.sin(angle) * TIME / SUBSTEPS
        return jnp.stack([angle + speed * TIME / SUBSTEPS, speed]), None

    return jax.lax.scan(step, state, None, length=SUBSTEPS)[0]


def network(parameters, state):
    (first, offset), (second, last) = parameters
    return state + jnp.tanh(state @ first + offset) @ second + last


def loss(parameters, states, later):
    return jnp.mean((network(parameters, states) - later) ** 2)


@jax.jit
def step(parameters, states, later):
    value, slope = jax.value_and_grad(loss)(parameters, states, later)
    return value, jax.tree.map(lambda one, change: one - 0.05 * change, parameters, slope)


def main():
    steps, seed = int(sys.argv[1]), int(sys.argv[2])
    keys = jax.random.split(jax.random.key(seed % 2**32), 3)
    states = jax.random.uniform(keys[0], (1024, 2), minval=-2.0, maxval=2.0)
    later = jax.vmap(pendulum)(states)
    parameters = [
        (0.5 * jax.random.normal(keys[1], (2, 64)), jnp.zeros(64)),
        (0.1 * jax.random.normal(keys[2], (64, 2)), jnp.zeros(2)),
    ]
    with open(os.environ["SABATH_METRICS"], "a", encoding="utf-8") as metrics:
        for number in range(1, steps + 1):
            value, parameters = step(parameters, states, later)
            if number % 50 == 0 or number == steps:
                metrics.write(json.dumps({"step": number, "loss": float(value)}) + "\n")


if __name__ == "__main__":
    main()
