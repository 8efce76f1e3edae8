;; word 1 or 4 of a stack, and what an empty one has; whether the last of the checkpoints, of iteration %n, is kept
define internal i64 @stack_word(ptr %stack, i64 %word, i64 %empty) alwaysinline nounwind {
entry:
  %none = icmp eq ptr %stack, null
  br i1 %none, label %done, label %look
look:
  %at = getelementptr i64, ptr %stack, i64 %word
  %found = load i64, ptr %at
  br label %done
done:
  %result = phi i64 [ %empty, %entry ], [ %found, %look ]
  ret i64 %result
}

define internal void @thin_out(ptr %stack, i64 %n, i64 %size) noinline nounwind {
entry:
  %length_at = getelementptr i64, ptr %stack, i64 1
  %length = load i64, ptr %length_at
  %interval_at = getelementptr i64, ptr %stack, i64 4
  %interval = load i64, ptr %interval_at
  %within = urem i64 %n, %interval
  %between = icmp ne i64 %within, 0
  br i1 %between, label %drop, label %keep
drop:
  %before = sub i64 %length, 1
  store i64 %before, ptr %length_at
  ret void
keep:
  %twice = shl i64 %interval, 1
  %many = icmp ugt i64 %length, %twice
  br i1 %many, label %halve, label %done
halve:
  %data = load ptr, ptr %stack
  %more = add i64 %length, 1
  %half = lshr i64 %more, 1
  store i64 %half, ptr %length_at
  store i64 %twice, ptr %interval_at
  br label %loop
loop:
  %k = phi i64 [ 1, %halve ], [ %next, %move ]
  %end = icmp uge i64 %k, %half
  br i1 %end, label %done, label %move
move:
  %to_at = mul i64 %k, %size
  %from_at = shl i64 %to_at, 1
  %to = getelementptr i8, ptr %data, i64 %to_at
  %from = getelementptr i8, ptr %data, i64 %from_at
  call void @llvm.memcpy.p0.p0.i64(ptr %to, ptr %from, i64 %size, i1 false)
  %next = add i64 %k, 1
  br label %loop
done:
  ret void
}
