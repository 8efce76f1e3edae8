"""Arrays of other libraries: a lowered graph whose kernels are computed by the library of the arrays it is given.

NumPy's kernels stay where no such array comes: a counter beside an array of PyTorch's is a number as ever.
"""

from __future__ import annotations

from .array_namespace import Namespace, namespace_of
from .foreign_kernels import in_namespace
from .promotions import check_promotions
from .refused_calls import NamespaceRefusal

__all__ = ["Namespace", "NamespaceRefusal", "check_promotions", "in_namespace", "namespace_of"]
