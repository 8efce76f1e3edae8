"""The other spellings of functions, for checkers, which do not see what rows of ``ops`` state (``aliases``)."""

from autoloop_runtime import ops

acos = ops.arccos
acosh = ops.arccosh
asin = ops.arcsin
asinh = ops.arcsinh
atan = ops.arctan
atan2 = ops.arctan2
atanh = ops.arctanh
bitwise_invert = ops.invert
bitwise_left_shift = ops.left_shift
bitwise_right_shift = ops.right_shift
clip_by_value = ops.clip
concatenate = ops.concat
diag_part = ops.diagonal
div = ops.divide
fill = ops.full
floordiv = ops.floor_divide
floormod = ops.mod
is_close = ops.isclose
is_finite = ops.isfinite
is_inf = ops.isinf
is_nan = ops.isnan
matrix_determinant = ops.det
matrix_inverse = ops.inv
matrix_solve = ops.solve
mul = ops.multiply
neg = ops.negative
permute_dims = ops.transpose
reduce_all = ops.all
reduce_any = ops.any
reduce_logsumexp = ops.logsumexp
reduce_max = ops.max
reduce_mean = ops.mean
reduce_min = ops.min
reduce_prod = ops.prod
reduce_std = ops.std
reduce_sum = ops.sum
reduce_variance = ops.var
remainder = ops.mod
reverse = ops.flip
scatter_nd = ops.scatter
sub = ops.subtract
tensor_scatter_nd_add = ops.scatter_add
tensor_scatter_nd_update = ops.scatter_update
truediv = ops.divide
