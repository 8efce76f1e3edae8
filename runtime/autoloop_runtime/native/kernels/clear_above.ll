;; Zeros above the diagonal of a matrix of doubles.
define internal void @clear_above(ptr %a, i64 %n) nounwind {
entry:
  br label %rows
rows:
  %k = phi i64 [ 0, %entry ], [ %next, %rows ]
  %next = add nsw i64 %k, 1
  %start = mul nsw i64 %k, %n
  %first = add nsw i64 %start, %next
  %offset = mul nsw i64 %first, 8
  %place = getelementptr i8, ptr %a, i64 %offset
  %count = sub nsw i64 %n, %next
  %bytes = mul nsw i64 %count, 8
  call void @llvm.memset.p0.i64(ptr %place, i8 0, i64 %bytes, i1 false)
  %last = icmp eq i64 %next, %n
  br i1 %last, label %done, label %rows
done:
  ret void
}
