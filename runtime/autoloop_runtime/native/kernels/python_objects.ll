;; functions of CPython's that ``python_call``, ``python_number`` and stacks that leave memory call
declare ptr @PyLong_FromVoidPtr(ptr)
declare ptr @PyObject_CallFunctionObjArgs(ptr, ...)
declare ptr @PyTuple_GetItem(ptr, i64)
declare void @PyErr_Fetch(ptr, ptr, ptr)
declare void @PyErr_NormalizeException(ptr, ptr, ptr)
declare void @Py_DecRef(ptr)
