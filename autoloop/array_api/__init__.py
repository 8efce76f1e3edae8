"""What makes ``autoloop`` a namespace of the Python array API standard, version 2024.12.

Most of its names are the operations themselves. Here is what only the standard has: arrays of anything, facts about
dtypes and devices, sets, sums that start at nothing. Its extensions are ``autoloop.linalg`` and ``autoloop.fft``.
"""

from .array_creation import asarray as asarray
from .array_creation import empty as empty
from .array_creation import empty_like as empty_like
from .array_creation import from_dlpack as from_dlpack
from .data_types import astype as astype
from .data_types import can_cast as can_cast
from .data_types import finfo as finfo
from .data_types import iinfo as iinfo
from .data_types import isdtype as isdtype
from .data_types import result_type as result_type
from .elementwise_functions import nextafter as nextafter
from .elementwise_functions import positive as positive
from .elementwise_functions import signbit as signbit
from .inspection import __array_namespace_info__ as __array_namespace_info__
from .joint_broadcasting import broadcast_arrays as broadcast_arrays
from .matrix_products import matrix_transpose as matrix_transpose
from .matrix_products import vecdot as vecdot
from .numpy_calls import computed as computed
from .numpy_calls import computed_parts as computed_parts
from .running_totals import cumulative_prod as cumulative_prod
from .running_totals import cumulative_sum as cumulative_sum
from .set_functions import unique_all as unique_all
from .set_functions import unique_counts as unique_counts
from .set_functions import unique_inverse as unique_inverse
from .set_functions import unique_values as unique_values
