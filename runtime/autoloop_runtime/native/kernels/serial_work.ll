;; all pieces of a job, one after the other
define internal void @alone(ptr %task, ptr %frame, i64 %rounds, i64 %piece) {
entry:
  br label %loop
loop:
  %first = phi i64 [ 0, %entry ], [ %next, %loop ]
  %left = sub i64 %rounds, %first
  %count = call i64 @llvm.umin.i64(i64 %left, i64 %piece)
  call void %task(ptr %frame, i64 %first, i64 %count)
  %next = add i64 %first, %piece
  %more = icmp ult i64 %next, %rounds
  br i1 %more, label %loop, label %done
done:
  ret void
}
