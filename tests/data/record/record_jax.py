#!/usr/bin/env python3
"""Records the small JAX profiles of tests/data on a machine with an NVIDIA GPU.

    tests/data/record/record_jax.py OUT_FOLDER [CASE...]

Writes OUT_FOLDER/jax_<case>.xplane.pb.gz for each case below. Every case runs in a process of its own,
since whether XLA captures CUDA graphs is decided by a flag at start. Python frames are not traced: they
would be most of the file.
"""
import glob
import gzip
import os
import shutil
import subprocess
import sys
import tempfile

NO_GRAPHS = "--xla_gpu_enable_command_buffer="
CASES = {  # name -> XLA flags
    "scan": "",
    "scan_eager": NO_GRAPHS,
    "fp8": NO_GRAPHS,
    "attention": NO_GRAPHS,
    "conv": NO_GRAPHS,
    "shard_map": "",
}


def scan():
    """A loop of eight layers, forward and backward: the body's kernels run eight times."""
    import jax
    import jax.numpy as jnp

    def loss(weights, x):
        def layer(h, w):
            with jax.named_scope("layer"):
                return jnp.tanh(h @ w), ()
        h, _ = jax.lax.scan(layer, x, weights)
        return jnp.sum(h.astype(jnp.float32))

    weights = jnp.ones((8, 512, 512), jnp.bfloat16) * 0.01
    x = jnp.ones((256, 512), jnp.bfloat16)
    return jax.jit(jax.grad(loss)), (weights, x)


def fp8():
    """A product of 8-bit floats with scales, as cuBLASLt takes it, and a plain one."""
    import jax
    import jax.numpy as jnp

    def dot(a, b, scale_a, scale_b):
        wide_a = a.astype(jnp.bfloat16) * scale_a
        wide_b = b.astype(jnp.bfloat16) * scale_b
        return wide_a @ wide_b, jax.lax.dot_general(
            a, b, (((1,), (0,)), ((), ())), preferred_element_type=jnp.bfloat16)

    a = jnp.ones((1024, 2048)).astype(jnp.float8_e4m3fn)
    b = jnp.ones((2048, 512)).astype(jnp.float8_e4m3fn)
    scale = jnp.asarray(0.5, jnp.bfloat16)
    return jax.jit(dot), (a, b, scale, scale)


def attention():
    """Causal attention by cuDNN with grouped key/value heads, forward and backward."""
    import jax
    import jax.numpy as jnp

    def loss(q, k, v):
        out = jax.nn.dot_product_attention(q, k, v, is_causal=True, implementation="cudnn")
        return jnp.sum(out.astype(jnp.float32))

    q = jnp.ones((2, 1024, 16, 64), jnp.bfloat16)
    k = jnp.ones((2, 1024, 4, 64), jnp.bfloat16)
    return jax.jit(jax.grad(loss, argnums=(0, 1, 2))), (q, k, k)


def conv():
    """A strided convolution with both of its gradients."""
    import jax
    import jax.numpy as jnp

    def loss(image, kernel):
        out = jax.lax.conv_general_dilated(image, kernel, window_strides=(2, 2), padding="SAME",
                                           dimension_numbers=("NHWC", "HWIO", "NHWC"))
        return jnp.sum(jax.nn.relu(out).astype(jnp.float32))

    image = jnp.ones((16, 64, 64, 64), jnp.bfloat16)
    kernel = jnp.ones((3, 3, 64, 128), jnp.bfloat16) * 0.01
    return jax.jit(jax.grad(loss, argnums=(0, 1))), (image, kernel)


def shard_map():
    """A product under shard_map over one device, with the sum over devices that it ends in."""
    import jax
    import jax.numpy as jnp
    from jax.sharding import Mesh, PartitionSpec

    mesh = Mesh(jax.devices()[:1], ("x",))

    def local(a, b):
        return jax.lax.psum(a @ b, "x")

    mapped = jax.shard_map(local, mesh=mesh, in_specs=(PartitionSpec(None, "x"), PartitionSpec("x")),
                           out_specs=PartitionSpec())
    a = jnp.ones((1024, 1024), jnp.bfloat16)
    return jax.jit(mapped), (a, a)


def record(case, folder):
    import jax
    function, arguments = globals()[case.removesuffix("_eager")]()
    for _ in range(3):  # compile, and let XLA capture its graphs
        jax.block_until_ready(function(*arguments))
    options = jax.profiler.ProfileOptions()
    options.python_tracer_level = 0
    with jax.profiler.trace(folder, profiler_options=options):
        for step in range(3):
            with jax.profiler.StepTraceAnnotation("train", step_num=step):
                jax.block_until_ready(function(*arguments))


def main():
    if sys.argv[1] == "--record":
        return record(*sys.argv[2:])
    out, cases = sys.argv[1], sys.argv[2:] or list(CASES)
    os.makedirs(out, exist_ok=True)
    for case in cases:
        with tempfile.TemporaryDirectory() as folder:
            flags = f"{os.environ.get('XLA_FLAGS', '')} {CASES[case]}".strip()
            done = subprocess.run([sys.executable, __file__, "--record", case, folder],
                                  env={**os.environ, "XLA_FLAGS": flags})
            profiles = glob.glob(f"{folder}/plugins/profile/*/*.xplane.pb")
            if done.returncode != 0 or not profiles:
                print(f"{case}: failed", file=sys.stderr)
                continue
            target = f"{out}/jax_{case}.xplane.pb.gz"
            with open(profiles[0], "rb") as source, gzip.GzipFile(target, "wb", 9, mtime=0) as packed:
                shutil.copyfileobj(source, packed)
            print(target, os.path.getsize(target))


if __name__ == "__main__":
    main()
