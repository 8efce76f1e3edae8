"""The names of ``np.`` itself: importing this module enters all of them."""

from __future__ import annotations

from . import bytes_of_elements as bytes_of_elements
from . import differences as differences
from . import distinct_elements as distinct_elements
from . import histograms as histograms
from . import index_tricks as index_tricks
from . import interpolation as interpolation
from . import joined_arrays as joined_arrays
from . import moved_axes as moved_axes
from . import nan_reductions as nan_reductions
from . import numpy_bits as numpy_bits
from . import numpy_creation as numpy_creation
from . import numpy_grids as numpy_grids
from . import numpy_joining as numpy_joining
from . import numpy_logic as numpy_logic
from . import numpy_ranges as numpy_ranges
from . import numpy_reductions as numpy_reductions
from . import numpy_running_sums as numpy_running_sums
from . import numpy_selection as numpy_selection
from . import numpy_shapes as numpy_shapes
from . import numpy_sorting as numpy_sorting
from . import numpy_texts as numpy_texts
from . import numpy_ufuncs as numpy_ufuncs
from . import numpy_windows as numpy_windows
from . import order_statistics as order_statistics
from . import padding as padding
from . import polynomials as polynomials
from . import sample_statistics as sample_statistics
from . import tensor_products as tensor_products
from . import ufunc_calls as ufunc_calls
from . import ufunc_methods as ufunc_methods
from . import writing_in_place as writing_in_place
