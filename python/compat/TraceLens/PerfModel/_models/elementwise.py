"""One output element from one or two input elements: a FLOP each; every tensor is moved once."""

from math import ceil, prod

from ..utils import name2bpe, torch_dtype_map
from .base import Model, at, concrete, dims, is_tensor, parse_list, stride, stride_if_any, types


class _Elementwise(Model):
    category = "elementwise"

    def get_maf_type(self):
        return "vector"


class UnaryElementwise(_Elementwise):
    sheet_category = "UnaryElementwise"

    def __init__(self, event, arch=None, python_path=None):
        super().__init__(event, arch, python_path)
        details = self.param_details
        self.nelems = prod(details["op_shape"])
        self.dtype_in, self.dtype_out = details["dtype_in_out"]
        self.bpe_in = name2bpe(self.dtype_in)
        self.bpe_out = self.bpe_in if self.dtype_out is None else name2bpe(self.dtype_out)

    def flops(self):
        return self.flops_func(self.nelems)

    @staticmethod
    def flops_func(nelems):
        return nelems

    def bytes(self):
        return self.bytes_func(self.nelems, self.bpe_in, self.bpe_out)

    @staticmethod
    def bytes_func(nelems, bpe_in, bpe_out):
        if bpe_in is None or bpe_out is None:
            return None
        return nelems * bpe_in + nelems * bpe_out

    def get_compute_precision(self):
        return torch_dtype_map(self.dtype_in)


class aten_unary_elementwise(UnaryElementwise):
    """Argument 1, where it is a tensor, is taken for the output (for a copy: the source)."""

    @staticmethod
    def get_param_details(event):
        has_output = is_tensor(event, 1)
        return {
            "op_shape": tuple(dims(event)[0]),
            "dtype_in_out": (types(event)[0], types(event)[1] if has_output else None),
            "stride_input": stride(event, 0),
            "stride_output": stride(event, 1) if has_output else None,
        }


class _Resampled(UnaryElementwise):
    """An output of another size than the input."""

    def bytes(self):
        sizes = prod(self.param_details["input_shape"]) * self.bpe_in
        return sizes + prod(self.param_details["output_shape"]) * self.bpe_out


def resampled_params(event, output_shape, **more):
    dtype = types(event)[0]
    return {"input_shape": tuple(dims(event)[0]), "output_shape": output_shape, **more, "op_shape": output_shape,
            "dtype_in_out": (dtype, dtype), "stride_input": stride(event, 0), "stride_output": None}


class aten_replication_pad(_Resampled):
    @staticmethod
    def get_param_details(event):
        """Pairs (before, after), the innermost dimension first."""
        padding = parse_list(concrete(event)[1], int)
        output = list(dims(event)[0])
        for pair in range(len(padding) // 2):
            output[-1 - pair] += padding[2 * pair] + padding[2 * pair + 1]
        return resampled_params(event, tuple(output), padding=padding)


class aten_upsample_nearest(_Resampled):
    @staticmethod
    def get_param_details(event):
        spatial = parse_list(concrete(event)[1], int)
        return resampled_params(event, tuple(dims(event)[0][:2]) + tuple(spatial))


def quantized_params(event, output_type):
    return {"op_shape": tuple(dims(event)[0]), "dtype_in_out": (types(event)[0], output_type),
            "stride_input": stride_if_any(event, 0), "stride_output": None}


class primus_turbo_quantize_fp8(UnaryElementwise):
    @staticmethod
    def get_param_details(event):
        return quantized_params(event, "c10::Float8_e4m3fnuz")


class primus_turbo_quantize_mxfp4_dual(UnaryElementwise):
    """A matrix and its transpose, both packed to 4 bits, with one scale byte for 32 values of a row."""

    @staticmethod
    def get_param_details(event):
        if len(dims(event)[0]) != 2:
            raise ValueError(f"expected a matrix, got {dims(event)[0]}")
        return quantized_params(event, "c10::Float4_e2m1fn_x2")

    def bytes(self):
        if self.bpe_in is None:
            return None
        M, N = self.param_details["op_shape"]
        scales = M * ceil(N / 32) + N * ceil(M / 32)
        return M * N * self.bpe_in + 2 * ceil(M * N / 2) + scales


class BinaryElementwise(_Elementwise):
    sheet_category = "BinaryElementwise"

    def __init__(self, event, arch=None, python_path=None):
        super().__init__(event, arch, python_path)
        details = self.param_details
        first, second = details["shape_in1"], details["shape_in2"]
        self.shape_out = self.get_broadcast_shape(first, second)
        self.nelems_in1, self.nelems_in2, self.nelems_out = prod(first), prod(second), prod(self.shape_out)
        self.dtype_in1, self.dtype_in2, self.dtype_out = details["dtype_in1_in2_out"]
        self.bpe_in1, self.bpe_in2 = name2bpe(self.dtype_in1), name2bpe(self.dtype_in2)
        if self.dtype_out is not None:
            self.bpe_out = name2bpe(self.dtype_out)
        elif self.bpe_in1 is None or self.bpe_in2 is None:
            self.bpe_out = None
        else:  # a scalar does not widen the result
            self.bpe_out = max(self.bpe_in1, self.bpe_in2) if first and second else self.bpe_in1

    @staticmethod
    def get_broadcast_shape(shape1, shape2):
        rank = max(len(shape1), len(shape2))
        padded = ((1,) * (rank - len(shape)) + tuple(shape) for shape in (shape1, shape2))
        result = []
        for a, b in zip(*padded):
            if a != b and 1 not in (a, b):
                raise ValueError(f"shapes {tuple(shape1)} and {tuple(shape2)} do not fit each other")
            result.append(max(a, b))
        return tuple(result)

    def flops(self):
        return self.flops_func(self.nelems_out)

    @staticmethod
    def flops_func(nelems_out):
        return nelems_out

    def bytes(self):
        return self.bytes_func(self.nelems_in1, self.nelems_in2, self.nelems_out, self.bpe_in1, self.bpe_in2,
                               self.bpe_out)

    @staticmethod
    def bytes_func(nelems_in1, nelems_in2, nelems_out, bpe_in1, bpe_in2, bpe_out):
        if None in (bpe_in1, bpe_in2, bpe_out):
            return None
        return nelems_in1 * bpe_in1 + nelems_in2 * bpe_in2 + nelems_out * bpe_out

    def get_compute_precision(self):
        return torch_dtype_map(self.dtype_in1)


def binary_params(event, has_output):
    dtypes = types(event)
    return {
        "shape_in1": tuple(dims(event)[0]),
        "shape_in2": tuple(dims(event)[1]),
        "dtype_in1_in2_out": (dtypes[0], dtypes[1], dtypes[2] if has_output else None),
        "stride_input1": stride(event, 0),
        "stride_input2": stride(event, 1),
        "stride_output": stride(event, 2) if has_output else None,
    }


class aten_binary_elementwise(BinaryElementwise):
    @staticmethod
    def get_param_details(event):
        return binary_params(event, has_output=is_tensor(event, 2))


class liger_silu_mul_function(BinaryElementwise):
    @staticmethod
    def get_param_details(event):
        return binary_params(event, has_output=False)


class Reduce(Model):
    """Sums, maxima and the like: one FLOP per input element."""

    category = "reduce"
    sheet_category = "Reduce"

    def __init__(self, event, arch=None, python_path=None):
        super().__init__(event, arch, python_path)
        details = self.param_details
        self.num_input_elems, self.num_output_elems = details["num_input_elems"], details["num_output_elems"]
        self.reduce_type = details.get("reduce_type", "sum")
        self.dtype_in, self.dtype_out = details["dtype_in_out"]
        self.bpe_in = name2bpe(self.dtype_in)
        self.bpe_out = self.bpe_in if self.dtype_out is None else name2bpe(self.dtype_out)

    def flops(self):
        return self.flops_func(self.num_input_elems, self.num_output_elems, self.reduce_type)

    @staticmethod
    def flops_func(num_input_elems, num_output_elems, reduce_type="sum"):
        return num_input_elems

    def bytes(self):
        return self.bytes_func(self.num_input_elems, self.num_output_elems, self.bpe_in, self.bpe_out)

    @staticmethod
    def bytes_func(num_input_elems, num_output_elems, bpe_in, bpe_out):
        if bpe_in is None or bpe_out is None:
            return None
        return num_input_elems * bpe_in + num_output_elems * bpe_out

    def flops_bwd(self):
        return self.num_input_elems

    def bytes_bwd(self):
        return self.bytes()

    def get_compute_precision(self):
        return torch_dtype_map(self.dtype_in)

    def get_maf_type(self):
        return "vector"


_REDUCTIONS = ("mean", "max", "min", "norm")


class aten_reduce(Reduce):
    @staticmethod
    def get_param_details(event):
        args = event["args"]
        shape = at(args.get("Input Dims"), 0)
        if shape is None:
            return {"num_input_elems": 0, "num_output_elems": 0, "dtype_in_out": (None, None)}
        name = event.get("name", "")
        output_types = args.get("Output type")
        output_type = output_types[0] if isinstance(output_types, (list, tuple)) and output_types else None
        return {
            "num_input_elems": prod(shape),
            "num_output_elems": reduced_elements(name, shape, args.get("Concrete Inputs") or ()),
            "dtype_in_out": (at(args.get("Input type"), 0), output_type),
            "reduce_type": next((word for word in _REDUCTIONS if word in name), "sum"),
        }


def reduced_elements(name, shape, arguments):
    """Elements of the output. Dimensions count where they are numbers; traces print texts, so all go."""
    if "cumsum" in name or "cumprod" in name:
        return prod(shape)
    keeps = dimensions = None
    for argument in reversed(arguments[1:]):
        if isinstance(argument, bool):
            keeps = argument if keeps is None else keeps
        elif isinstance(argument, int):
            dimensions = dimensions or [argument]
        elif isinstance(argument, (list, tuple)):
            dimensions = dimensions or [int(item) for item in argument]
    if not dimensions:
        return 1
    left = list(shape)
    for dimension in sorted({d % len(shape) for d in dimensions if -len(shape) <= d < len(shape)}, reverse=True):
        left[dimension:dimension + 1] = [1] if keeps else []
    return prod(left)
