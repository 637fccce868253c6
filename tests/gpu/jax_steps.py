# tests/gpu/jax_steps.py: a training loop of JAX with a kernel of XLA's and a product of cuBLAS's; prints "loss VALUE",
# and "arena PEAK_BYTES", what JAX's own allocator had from the driver ("arena none" where each buffer is the driver's).
import os

import jax
import jax.numpy as jnp

WIDTH, DEPTH, STEPS = 2048, 4, 20
device = jax.devices("gpu")[0]


def forward(weights, data):
    for weight in weights:
        data = jax.nn.relu(data @ weight)
    return jnp.mean(data)


@jax.jit
def step(weights, data):
    loss, slopes = jax.value_and_grad(forward)(weights, data)
    return [weight - 0.01 * slope for weight, slope in zip(weights, slopes)], loss


keys = jax.random.split(jax.random.PRNGKey(1), DEPTH + 1)
weights = [jax.random.normal(key, (WIDTH, WIDTH)) / 45 for key in keys[:DEPTH]]
data = jax.random.normal(keys[DEPTH], (1024, WIDTH))
loss = None
for number in range(STEPS):
    with jax.profiler.TraceAnnotation(f"step {number}"):
        weights, loss = step(weights, data)
print(f"loss {float(loss):.3f}")
stats = device.memory_stats() or {}
print("arena", stats.get("peak_pool_bytes", stats.get("pool_bytes", "none")), flush=True)
os._exit(0)  # what is left is left
