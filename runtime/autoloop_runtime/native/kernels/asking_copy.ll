;; copies ``n`` elements of ``size`` bytes in pieces, each of which counts as so many steps of a sort; false when the
;; user wants to stop
define internal i1 @asking_copy(ptr %to, ptr %from, i64 %n, i64 %size, ptr %thread, ptr %fuel) nounwind {
entry:
  br label %head
head:
  %k = phi i64 [ 0, %entry ], [ %next, %copy ]
  %some = icmp ult i64 %k, %n
  br i1 %some, label %copy, label %done
copy:
  %left = sub i64 %n, %k
  %count = call i64 @llvm.umin.i64(i64 %left, i64 ${most})
  %next = add i64 %k, %count
  %offset = mul i64 %k, %size
  %bytes = mul i64 %count, %size
  %into = getelementptr i8, ptr %to, i64 %offset
  %out_of = getelementptr i8, ptr %from, i64 %offset
  call void @llvm.memcpy.p0.p0.i64(ptr %into, ptr %out_of, i64 %bytes, i1 false)
  %told = call i32 @autoloop_spend(ptr %thread, ptr %fuel, i64 %count, i64 ${most})
  %unwanted = icmp ne i32 %told, 0
  br i1 %unwanted, label %stopped, label %head
done:
  ret i1 true
stopped:
  ret i1 false
}
