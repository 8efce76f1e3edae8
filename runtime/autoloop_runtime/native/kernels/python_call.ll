;; calls a function of Python with one number, with the interpreter's lock, as ``autoloop_poll`` takes it; not 0 if
;; something was raised that ends the run, by a signal handler

define internal i32 @python_call(ptr %thread, ptr %function, ptr %words) noinline nounwind {
entry:
  %state = load ptr, ptr %thread
  call void @PyEval_RestoreThread(ptr %state)
  %before = call ptr @PyErr_Occurred()
  %none = icmp eq ptr %before, null
  br i1 %none, label %go, label %done
go:
  %number = call ptr @PyLong_FromVoidPtr(ptr %words)
  %no_number = icmp eq ptr %number, null
  br i1 %no_number, label %done, label %ask
ask:
  %made = call ptr (ptr, ...) @PyObject_CallFunctionObjArgs(ptr %function, ptr %number, ptr null)
  call void @Py_DecRef(ptr %number)
  %raised = icmp eq ptr %made, null
  br i1 %raised, label %done, label %fine
fine:
  call void @Py_DecRef(ptr %made)
  br label %done
done:
  %result = phi i32 [ -1, %entry ], [ -1, %go ], [ -1, %ask ], [ 0, %fine ]
  %again = call ptr @PyEval_SaveThread()
  store ptr %again, ptr %thread
  ret i32 %result
}
