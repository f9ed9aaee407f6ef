import collections
import math

from jax import Array, calls

Precision = type("Precision", (), {"DEFAULT": "DEFAULT", "HIGH": "HIGH", "HIGHEST": "HIGHEST"})
RoundingMethod = type("RoundingMethod", (), {"AWAY_FROM_ZERO": 0, "TO_NEAREST_EVEN": 1})
GatherScatterMode = type("GatherScatterMode", (), {"CLIP": "clip"})
ConvDimensionNumbers = collections.namedtuple("ConvDimensionNumbers", "lhs_spec rhs_spec out_spec")


class GatherDimensionNumbers:
    def __init__(self, **dims):
        self.dims = dims


ScatterDimensionNumbers = GatherDimensionNumbers


def _same(name):
    def function(*values):
        calls.append((name, values))
        arrays = [value for value in values if isinstance(value, Array)]
        assert all(each.shape == arrays[0].shape and each.dtype == arrays[0].dtype for each in arrays), (
            name, [(each.shape, each.dtype) for each in arrays])
        return Array(arrays[0].shape, arrays[0].dtype)
    return function


for _name in ("abs cbrt ceil cos clz erf exp expm1 floor log log1p logistic neg bitwise_not "
              "population_count rsqrt sign sin sqrt tan tanh add bitwise_and atan2 div max min mul "
              "bitwise_or pow rem shift_left shift_right_arithmetic shift_right_logical sub bitwise_xor "
              "clamp round").split():
    globals()[_name] = _same(_name)


def _compare(*values):
    return Array(_same("compare")(*values).shape, "bool_")


eq = ne = lt = le = gt = ge = is_finite = _compare


def select(which, left, right):
    assert which.dtype == "bool_" and which.shape in ((), left.shape)
    return _same("select")(left, right)


def reshape(value, shape):
    shape = [math.prod(value.shape) if size == -1 else size for size in shape]
    assert math.prod(shape) == math.prod(value.shape), (value.shape, shape)
    return Array(shape, value.dtype)


def transpose(value, order):
    assert sorted(order) == list(range(len(value.shape)))
    calls.append(("transpose", order))
    return Array([value.shape[dim] for dim in order], value.dtype)


def rev(value, dims):
    return Array(value.shape, value.dtype)


def convert_element_type(value, dtype):
    return Array(value.shape, dtype)


def bitcast_convert_type(value, dtype):
    return Array(value.shape, dtype)


def reduce_precision(value, exponent, mantissa):
    return Array(value.shape, value.dtype)


def optimization_barrier(value):
    return value


def broadcasted_iota(dtype, shape, dimension):
    assert dimension < len(shape)
    return Array(shape, dtype)


def broadcast_in_dim(value, shape, dims):
    assert len(dims) == len(value.shape)
    assert all(shape[dim] == size for dim, size in zip(dims, value.shape)), (value.shape, shape, dims)
    return Array(shape, value.dtype)


def concatenate(values, dimension):
    shape = list(values[0].shape)
    shape[dimension] = sum(value.shape[dimension] for value in values)
    return Array(shape, values[0].dtype)


def slice(value, starts, limits, strides):
    return Array([(limit - start + stride - 1) // stride
                  for start, limit, stride in zip(starts, limits, strides)], value.dtype)


def dynamic_slice(value, starts, sizes):
    assert len(starts) == len(value.shape) == len(sizes)
    return Array(sizes, value.dtype)


def dynamic_update_slice(value, update, starts):
    assert len(starts) == len(value.shape) == len(update.shape)
    return Array(value.shape, value.dtype)


def pad(value, filler, config):
    return Array([low + high + size + (size - 1 if size else 0) * interior
                  for size, (low, high, interior) in zip(value.shape, config)], value.dtype)


def reduce(values, inits, computation, dims):
    calls.append(("reduce", dims))
    is_one = isinstance(values, Array)
    value = values if is_one else values[0]
    computation(inits, inits)
    shape = [size for dim, size in enumerate(value.shape) if dim not in dims]
    return Array(shape, value.dtype) if is_one else tuple(Array(shape, each.dtype) for each in values)


def reduce_window(value, init, computation, sizes, strides, padding, base, window):
    computation(init, init)
    return Array([(size + low + high - width) // step + 1 for size, width, step, (low, high)
                  in zip(value.shape, sizes, strides, padding)], value.dtype)


def sort(values, dimension, num_keys=1):
    return values


def gather(value, indices, numbers, sizes, mode):
    calls.append(("gather", numbers.dims, sizes))
    offset = [size for dim, size in enumerate(sizes) if dim not in numbers.dims["collapsed_slice_dims"]]
    batch = list(indices.shape[:-1])
    rank = len(offset) + len(batch)
    return Array([offset.pop(0) if dim in numbers.dims["offset_dims"] else batch.pop(0)
                  for dim in range(rank)], value.dtype)


def scatter(value, indices, updates, numbers, mode):
    calls.append(("scatter", numbers.dims))
    return Array(value.shape, value.dtype)


scatter_add = scatter_mul = scatter_min = scatter_max = scatter


def dot_general(a, b, numbers, precision=None, preferred_element_type=None):
    calls.append(("dot_general", numbers, preferred_element_type))
    (lhs, rhs), (lhs_batch, rhs_batch) = numbers
    assert [a.shape[dim] for dim in lhs] == [b.shape[dim] for dim in rhs]
    assert [a.shape[dim] for dim in lhs_batch] == [b.shape[dim] for dim in rhs_batch]
    shape = [a.shape[dim] for dim in lhs_batch]
    shape += [size for dim, size in enumerate(a.shape) if dim not in (*lhs, *lhs_batch)]
    shape += [size for dim, size in enumerate(b.shape) if dim not in (*rhs, *rhs_batch)]
    return Array(shape, preferred_element_type)


def conv_general_dilated(image, kernel, strides, padding, image_dilation, kernel_dilation, numbers,
                         feature_group_count=1, batch_group_count=1, precision=None,
                         preferred_element_type=None):
    calls.append(("conv_general_dilated", strides, padding))
    shape = [0] * len(image.shape)
    shape[numbers.out_spec[0]] = image.shape[numbers.lhs_spec[0]] // batch_group_count
    shape[numbers.out_spec[1]] = kernel.shape[numbers.rhs_spec[0]]
    assert image.shape[numbers.lhs_spec[1]] == kernel.shape[numbers.rhs_spec[1]] * feature_group_count
    for i, (stride, (low, high)) in enumerate(zip(strides, padding)):
        size = (image.shape[numbers.lhs_spec[2 + i]] - 1) * image_dilation[i] + 1 + low + high
        width = (kernel.shape[numbers.rhs_spec[2 + i]] - 1) * kernel_dilation[i] + 1
        shape[numbers.out_spec[2 + i]] = (size - width) // stride + 1
    return Array(shape, preferred_element_type)
