;; The sign of an order of rows: -1 if LAPACK exchanged them, row k and row ``order[k]``, an odd number of times.
define internal i32 @order_sign(ptr %order, i64 %n) nounwind {
entry:
  br label %rows
rows:
  %k = phi i64 [ 0, %entry ], [ %next, %rows ]
  %sign = phi i32 [ 1, %entry ], [ %turned, %rows ]
  %place = getelementptr i32, ptr %order, i64 %k
  %row = load i32, ptr %place
  %next = add nsw i64 %k, 1
  %same = trunc i64 %next to i32
  %stays = icmp eq i32 %row, %same
  %other = sub i32 0, %sign
  %turned = select i1 %stays, i32 %sign, i32 %other
  %last = icmp eq i64 %next, %n
  br i1 %last, label %done, label %rows
done:
  ret i32 %turned
}
