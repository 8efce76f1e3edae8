;; a copy of a table, ``inner``: of the tables inside
define internal ptr @${name}(ptr %list, ptr %table) noinline nounwind {
entry:
  %none = icmp eq ptr %table, null
  br i1 %none, label %same, label %make
same:
  ret ptr %table
make:
  %length_at = getelementptr i64, ptr %table, i64 1
  %length = load i64, ptr %length_at
  %made = call ptr @table_reach(ptr %list, ptr null, i64 %length, i64 ${size})
  %failed = icmp eq ptr %made, null
  br i1 %failed, label %fail, label %copy
copy:
  %data = load ptr, ptr %table
  %to = load ptr, ptr %made
  %bytes = mul i64 %length, ${size}
  call void @llvm.memcpy.p0.p0.i64(ptr %to, ptr %data, i64 %bytes, i1 false)
  br i1 ${nested}, label %loop, label %done
loop:
  %k = phi i64 [ 0, %copy ], [ %next, %good ]
  %end = icmp eq i64 %k, %length
  br i1 %end, label %done, label %one
one:
  %at = getelementptr ptr, ptr %to, i64 %k
  %old = load ptr, ptr %at
  %new = ${inner}
  store ptr %new, ptr %at
  %next = add i64 %k, 1
  %was = icmp eq ptr %old, null
  %is = icmp eq ptr %new, null
  %ok = icmp eq i1 %was, %is
  br i1 %ok, label %good, label %fail
good:
  br label %loop
done:
  ret ptr %made
fail:
  ret ptr null
}
