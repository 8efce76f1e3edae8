;; asks a function of Python for a number, in a tuple of one, with the interpreter's lock as ``python_call``; 1 if it
;; raised, which ``keep`` is told, and less than 0 if the run ends by that
declare ${TYPE} @${READ}(ptr)

define internal i32 @python_number_${TYPE}(ptr %thread, ptr %function, ptr %keep, ptr %place) noinline nounwind {
entry:
  %type = alloca ptr
  %value = alloca ptr
  %trace = alloca ptr
  %state = load ptr, ptr %thread
  call void @PyEval_RestoreThread(ptr %state)
  %before = call ptr @PyErr_Occurred()
  %none = icmp eq ptr %before, null
  br i1 %none, label %go, label %done
go:
  %made = call ptr (ptr, ...) @PyObject_CallFunctionObjArgs(ptr %function, ptr null)
  %raised = icmp eq ptr %made, null
  br i1 %raised, label %tell, label %fine
fine:
  %item = call ptr @PyTuple_GetItem(ptr %made, i64 0)
  %number = call ${TYPE} @${READ}(ptr %item)
  store ${TYPE} %number, ptr %place, align 8
  call void @Py_DecRef(ptr %made)
  br label %done
tell:
  call void @PyErr_Fetch(ptr %type, ptr %value, ptr %trace)
  call void @PyErr_NormalizeException(ptr %type, ptr %value, ptr %trace)
  %error = load ptr, ptr %value
  %kept = call ptr (ptr, ...) @PyObject_CallFunctionObjArgs(ptr %keep, ptr %error, ptr null)
  %error_type = load ptr, ptr %type
  %error_trace = load ptr, ptr %trace
  call void @Py_DecRef(ptr %error)
  call void @Py_DecRef(ptr %error_type)
  call void @Py_DecRef(ptr %error_trace)
  %ends = icmp eq ptr %kept, null
  br i1 %ends, label %done, label %failed
failed:
  call void @Py_DecRef(ptr %kept)
  br label %done
done:
  %result = phi i32 [ -1, %entry ], [ 0, %fine ], [ -1, %tell ], [ 1, %failed ]
  %again = call ptr @PyEval_SaveThread()
  store ptr %again, ptr %thread
  ret i32 %result
}
