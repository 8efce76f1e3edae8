;; %into with %other added, null if there is no memory; ``add`` adds one entry
define internal ptr @${name}(ptr %list, ptr %into, ptr %other) noinline nounwind {
entry:
  %none = icmp eq ptr %other, null
  br i1 %none, label %same, label %look
same:
  ret ptr %into
look:
  %length_at = getelementptr i64, ptr %other, i64 1
  %length = load i64, ptr %length_at
  %result = call ptr @table_reach(ptr %list, ptr %into, i64 %length, i64 ${size})
  %failed = icmp eq ptr %result, null
  br i1 %failed, label %fail, label %start
start:
  %data = load ptr, ptr %other
  %to = load ptr, ptr %result
  %count = mul i64 %length, ${elements}
  br label %loop
loop:
  %k = phi i64 [ 0, %start ], [ %next, %good ]
  %end = icmp eq i64 %k, %count
  br i1 %end, label %done, label %one
one:
  %from_at = getelementptr ${memory}, ptr %data, i64 %k
  %to_at = getelementptr ${memory}, ptr %to, i64 %k
  %a = load ${memory}, ptr %to_at
  %b = load ${memory}, ptr %from_at
${add}
  store ${memory} %sum, ptr %to_at
  %next = add i64 %k, 1
  br label %good
good:
  br label %loop
done:
  ret ptr %result
fail:
  ret ptr null
}
