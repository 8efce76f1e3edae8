;; the interpreter's lock is given up while the function runs, and taken for a moment to look for signals; nobody may
;; change the arrays meanwhile
declare ptr @PyEval_SaveThread()
declare void @PyEval_RestoreThread(ptr)
declare i32 @PyErr_CheckSignals()
declare ptr @PyErr_Occurred()

define internal i32 @autoloop_poll(ptr %thread) noinline cold memory(argmem: readwrite, inaccessiblemem: readwrite) {
entry:
  %state = load ptr, ptr %thread
  call void @PyEval_RestoreThread(ptr %state)
  ; by a handler that ran in what Python does for stacks, see ``stack_code``
  %raised = call ptr @PyErr_Occurred()
  %none = icmp eq ptr %raised, null
  br i1 %none, label %ask, label %done
ask:
  %asked = call i32 @PyErr_CheckSignals()
  br label %done
done:
  %result = phi i32 [ -1, %entry ], [ %asked, %ask ]
  %again = call ptr @PyEval_SaveThread()
  store ptr %again, ptr %thread
  ret i32 %result
}

define i32 @${name}(ptr %args, ptr %memory)${ATTRIBUTES} {
entry:
  %table = load ptr, ptr %memory
  %scratch_at = getelementptr i64, ptr %memory, i64 1
  %scratch = load ptr, ptr %scratch_at
  %out = getelementptr i64, ptr %memory, i64 2
  %thread = getelementptr i64, ptr %out, i64 ${BEFORE_THREAD}
  %stacks = getelementptr i64, ptr %thread, i64 1
  %report = getelementptr i64, ptr %thread, i64 2
  %again = icmp eq ptr %args, null
  br i1 %again, label %clear, label %go

go:
  store ptr null, ptr %stacks
  %state = call ptr @PyEval_SaveThread()
  store ptr %state, ptr %thread
  %result = call i32 @body(ptr %args, ptr %table, ptr %out, ptr %thread, ptr %stacks, ptr %report, ptr %scratch)
  %last = load ptr, ptr %thread
  call void @PyEval_RestoreThread(ptr %last)
  %raised = call ptr @PyErr_Occurred()
  %none = icmp eq ptr %raised, null
  %later = icmp sgt i32 %result, ${LAST}
  ; nobody asks for the results of what raised
  %wanted = and i1 %later, %none
  br i1 %wanted, label %done, label %clear

clear:
  %code = phi i32 [ %result, %go ], [ 0, %entry ]
${FREE}  ret i32 %code

done:
  ret i32 %result
}
