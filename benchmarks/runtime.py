"""Packages in the process that calls them, through the runtime's C interface (include/fp8c/Runtime/fp8rt.h).

    forward = Package("libfp8rt.so", "model.fp8", "cuda")
    outputs = forward(*inputs)

Inputs are torch tensors on that device; outputs are new ones, whose sizes are asked for once. A call goes into PyTorch's
current stream, also while a CUDA graph records it. `forward.bind(*inputs)` is a call with these inputs and outputs, whose
tensors are described once: what it costs is the runtime's.
"""

import ctypes as c

import torch

CPU, CUDA = 1, 2
#: DLPack's type code and bits.
TYPES = {torch.bfloat16: (4, 16), torch.float32: (2, 32), torch.float16: (2, 16), torch.int64: (0, 64), torch.bool: (6, 8),
         torch.float8_e4m3fn: (10, 8), torch.float8_e5m2: (12, 8)}


class DataType(c.Structure):
    _fields_ = [("code", c.c_uint8), ("bits", c.c_uint8), ("lanes", c.c_uint16)]


class Tensor(c.Structure):
    _fields_ = [("data", c.c_void_p), ("device_type", c.c_int), ("device_id", c.c_int), ("ndim", c.c_int), ("dtype", DataType),
                ("shape", c.POINTER(c.c_int64)), ("strides", c.POINTER(c.c_int64)), ("byte_offset", c.c_uint64)]

    @classmethod
    def of(cls, tensor):
        assert tensor.is_contiguous()
        code, bits = TYPES[tensor.dtype]
        return cls(tensor.data_ptr(), CUDA if tensor.is_cuda else CPU, max(tensor.get_device(), 0), tensor.dim(),
                   DataType(code, bits, 1), (c.c_int64 * tensor.dim())(*tensor.shape))


class Output(c.Structure):
    _fields_ = [("struct_size", c.c_size_t), ("kind", c.c_int), ("dtype", DataType), ("ndim", c.c_int32),
                ("dims", c.POINTER(c.c_int64)), ("integer", c.c_int64)]


class TensorInfo(c.Structure):
    _fields_ = [("struct_size", c.c_size_t), ("name", c.c_char_p), ("kind", c.c_int), ("dtype", DataType), ("ndim", c.c_int32),
                ("dims", c.c_void_p), ("dim_texts", c.c_void_p)]


#: fp8rt_graphs_t and fp8rt_backends_t.
GRAPHS = {"auto": 0, "off": 1, "on": 2}
BACKENDS = {"auto": 0, "fixed": 1, "own": 2}


class ContextOptions(c.Structure):
    _fields_ = [("struct_size", c.c_size_t), ("device", c.c_char_p), ("entry", c.c_char_p), ("state", c.c_void_p),
                ("threads", c.c_int32), ("cached_shapes", c.c_int32), ("graphs", c.c_int32), ("poison", c.c_int32),
                ("backends", c.c_int32), ("lanes", c.c_int32)]


class CallOptions(c.Structure):
    _fields_ = [("struct_size", c.c_size_t), ("stream", c.c_void_p)]


def pointers(tensors):
    return (c.POINTER(Tensor) * len(tensors))(*map(c.pointer, tensors))


class Package:
    """A package whose outputs are tensors."""

    def __init__(self, library, path, device, graphs="auto", backends="auto", poison=False):
        self.library, self.device = c.CDLL(str(library)), device
        self.library.fp8rt_error_message.restype = c.c_char_p
        self.program, self.context = c.c_void_p(), c.c_void_p()
        self.check(self.library.fp8rt_program_load_file(str(path).encode(), None, c.byref(self.program)))
        options = ContextOptions(c.sizeof(ContextOptions), device.encode(), graphs=GRAPHS[graphs], poison=poison,
                                 backends=BACKENDS[backends])
        self.check(self.library.fp8rt_context_create(self.program, c.byref(options), c.byref(self.context)))
        count, info = c.c_size_t(), TensorInfo(c.sizeof(TensorInfo))
        self.check(self.library.fp8rt_program_num_inputs(self.program, None, c.byref(count)))
        self.inputs = []
        for i in range(count.value):
            self.check(self.library.fp8rt_program_input(self.program, None, c.c_size_t(i), c.byref(info)))
            self.inputs.append(info.name.decode())
        self.check(self.library.fp8rt_program_num_outputs(self.program, None, c.byref(count)))
        self.num_outputs, self.made = count.value, None

    def __del__(self):
        self.library.fp8rt_context_destroy(self.context)
        self.library.fp8rt_program_destroy(self.program)

    def check(self, status):
        if status:
            raise RuntimeError(self.library.fp8rt_error_message().decode())

    def query(self, inputs):
        """Types and sizes of the outputs."""
        outputs = (Output * self.num_outputs)(*[Output(c.sizeof(Output)) for _ in range(self.num_outputs)])
        self.check(self.library.fp8rt_context_query_outputs(self.context, pointers(inputs), c.c_size_t(len(inputs)), outputs,
                                                            c.c_size_t(self.num_outputs)))
        types = {value: key for key, value in TYPES.items()}
        return [(types[o.dtype.code, o.dtype.bits], o.dims[:o.ndim]) for o in outputs]

    def make_results(self, args):
        sizes = [arg.shape for arg in args]
        if self.made is None or self.made[0] != sizes:
            self.made = sizes, self.query([Tensor.of(arg) for arg in args])
        return tuple(torch.empty(dims, dtype=dtype, device=self.device) for dtype, dims in self.made[1])

    def bind(self, *args):
        """A function of no arguments: the call with these inputs, which gives the same outputs each time."""
        results = self.make_results(args)
        tensors = [Tensor.of(tensor) for tensor in (*args, *results)]
        inputs, outputs = pointers(tensors[:len(args)]), pointers(tensors[len(args):])
        counts = c.c_size_t(len(args)), c.c_size_t(len(results))
        options = CallOptions(c.sizeof(CallOptions))
        reference, function = c.byref(options), self.library.fp8rt_context_call

        def call():
            if self.device != "cpu":
                options.stream = torch.cuda.current_stream().cuda_stream
            self.check(function(self.context, inputs, counts[0], outputs, counts[1], reference))
            return results
        call.tensors = args, tensors
        return call

    def __call__(self, *args):
        return self.bind(*args)()
