;; Python's functions, called as C code calls them, so what a signal handler raises is not lost wherever it comes: the
;; answer is in a word that was 0 before, and what was raised stays raised, see ``_assemble``
@${GROW} = external global i8
@${RELEASE} = external global i8
declare i32 @PyGILState_Ensure()
declare void @PyGILState_Release(i32)
declare void @PyErr_Restore(ptr, ptr, ptr)
declare void @PyErr_Clear()

; true if it raised nothing
define internal i1 @swap_call(ptr %function, ptr %address) noinline nounwind {
entry:
  %number = call ptr @PyLong_FromVoidPtr(ptr %address)
  %none = icmp eq ptr %number, null
  br i1 %none, label %fail, label %go
go:
  %result = call ptr (ptr, ...) @PyObject_CallFunctionObjArgs(ptr %function, ptr %number, ptr null)
  call void @Py_DecRef(ptr %number)
  %raised = icmp eq ptr %result, null
  br i1 %raised, label %fail, label %done
done:
  call void @Py_DecRef(ptr %result)
  ret i1 true
fail:
  ret i1 false
}

define internal i64 @swap_grow(ptr %stack, ptr %data, i64 %used, i64 %bytes) noinline nounwind {
entry:
  %words = alloca [5 x i64]
  store ptr %stack, ptr %words
  %data_at = getelementptr i64, ptr %words, i64 1
  store ptr %data, ptr %data_at
  %used_at = getelementptr i64, ptr %words, i64 2
  store i64 %used, ptr %used_at
  %bytes_at = getelementptr i64, ptr %words, i64 3
  store i64 %bytes, ptr %bytes_at
  %answer_at = getelementptr i64, ptr %words, i64 4
  store i64 0, ptr %answer_at
  %held = call i32 @PyGILState_Ensure()
  %before = call ptr @PyErr_Occurred()
  %none = icmp eq ptr %before, null
  br i1 %none, label %ask, label %done
ask:
  %ignored = call i1 @swap_call(ptr @${GROW}, ptr %words)
  br label %done
done:
  call void @PyGILState_Release(i32 %held)
  %answer = load i64, ptr %answer_at
  ret i64 %answer
}

; what was raised before is still raised after it
define internal void @swap_release(ptr %stack) noinline nounwind {
entry:
  %kind = alloca ptr
  %value = alloca ptr
  %trace = alloca ptr
  %held = call i32 @PyGILState_Ensure()
  call void @PyErr_Fetch(ptr %kind, ptr %value, ptr %trace)
  br label %ask
ask:
  %time = phi i64 [ 1, %entry ], [ %next, %again ]
  %good = call i1 @swap_call(ptr @${RELEASE}, ptr %stack)
  br i1 %good, label %done, label %raised
raised:
  %before = load ptr, ptr %kind
  %first = icmp eq ptr %before, null
  br i1 %first, label %take, label %drop
take:
  call void @PyErr_Fetch(ptr %kind, ptr %value, ptr %trace)
  br label %again
drop:
  call void @PyErr_Clear()
  br label %again
again:
  %next = add i64 %time, 1
  %last = icmp eq i64 %time, ${TIMES}
  br i1 %last, label %done, label %ask
done:
  %its_kind = load ptr, ptr %kind
  %its_value = load ptr, ptr %value
  %its_trace = load ptr, ptr %trace
  call void @PyErr_Restore(ptr %its_kind, ptr %its_value, ptr %its_trace)
  call void @PyGILState_Release(i32 %held)
  ret void
}
