;; ``@table_reach``: the table with at least so many elements, made if there is none. ``@table_entry``: where the
;; element at a position is, null if it is behind the end. ``@table_read``: a copy of %count elements from %position on.
;; ``@table_open``: zero is put at a position, what was there or behind it moves one further, over the last one, which is
;; zero. ``@table_close``: the element at a position is taken off
define internal ptr @table_reach(ptr %list, ptr %table, i64 %length, i64 %size) noinline nounwind {
entry:
  %none = icmp eq ptr %table, null
  br i1 %none, label %make, label %look
make:
  %first = call i64 @llvm.umax.i64(i64 %length, i64 ${FIRST})
  %space = mul i64 %first, %size
  %made = call ptr @stack_made(ptr %list, i64 ${HEAD_BYTES}, i64 %space, i64 %first)
  %failed = icmp eq ptr %made, null
  br i1 %failed, label %fail, label %fill
look:
  %have_at = getelementptr i64, ptr %table, i64 1
  %have = load i64, ptr %have_at
  %enough = icmp uge i64 %have, %length
  br i1 %enough, label %there, label %more
there:
  ret ptr %table
more:
  %room_at = getelementptr i64, ptr %table, i64 2
  %room = load i64, ptr %room_at
  %fits = icmp uge i64 %room, %length
  br i1 %fits, label %fill, label %grow
grow:
  %twice = shl i64 %room, 1
  %larger = call i64 @llvm.umax.i64(i64 %twice, i64 %length)
  %bytes = mul i64 %larger, %size
  %old = load ptr, ptr %table
  %moved = call ptr @realloc(ptr %old, i64 %bytes)
  %stuck = icmp eq ptr %moved, null
  br i1 %stuck, label %fail, label %grown
grown:
  store ptr %moved, ptr %table
  store i64 %larger, ptr %room_at
  br label %fill
fill:
  %result = phi ptr [ %made, %make ], [ %table, %more ], [ %table, %grown ]
  %from = phi i64 [ 0, %make ], [ %have, %more ], [ %have, %grown ]
  %data = load ptr, ptr %result
  %start_at = mul i64 %from, %size
  %start = getelementptr i8, ptr %data, i64 %start_at
  %new = sub i64 %length, %from
  %blank = mul i64 %new, %size
  call void @llvm.memset.p0.i64(ptr %start, i8 0, i64 %blank, i1 false)
  %length_at = getelementptr i64, ptr %result, i64 1
  store i64 %length, ptr %length_at
  ret ptr %result
fail:
  ret ptr null
}

define internal ptr @table_entry(ptr %table, i64 %position, i64 %size) alwaysinline nounwind {
entry:
  %none = icmp eq ptr %table, null
  br i1 %none, label %done, label %look
look:
  %have_at = getelementptr i64, ptr %table, i64 1
  %have = load i64, ptr %have_at
  %there = icmp ult i64 %position, %have
  br i1 %there, label %found, label %done
found:
  %data = load ptr, ptr %table
  %offset = mul i64 %position, %size
  %at = getelementptr i8, ptr %data, i64 %offset
  br label %done
done:
  %result = phi ptr [ null, %entry ], [ null, %look ], [ %at, %found ]
  ret ptr %result
}

define internal void @table_read(ptr %table, i64 %position, i64 %count, ptr %to, i64 %size) noinline nounwind {
entry:
  %none = icmp eq ptr %table, null
  br i1 %none, label %copy, label %look
look:
  %have_at = getelementptr i64, ptr %table, i64 1
  %length = load i64, ptr %have_at
  %some = load ptr, ptr %table
  br label %copy
copy:
  %have = phi i64 [ 0, %entry ], [ %length, %look ]
  %data = phi ptr [ %to, %entry ], [ %some, %look ]
  %before = call i64 @llvm.umin.i64(i64 %have, i64 %position)
  %left = sub i64 %have, %before
  %there = call i64 @llvm.umin.i64(i64 %left, i64 %count)
  %first = mul i64 %before, %size
  %from = getelementptr i8, ptr %data, i64 %first
  %bytes = mul i64 %there, %size
  call void @llvm.memcpy.p0.p0.i64(ptr %to, ptr %from, i64 %bytes, i1 false)
  %rest = getelementptr i8, ptr %to, i64 %bytes
  %missing = sub i64 %count, %there
  %blank = mul i64 %missing, %size
  call void @llvm.memset.p0.i64(ptr %rest, i8 0, i64 %blank, i1 false)
  ret void
}

define internal void @table_open(ptr %table, i64 %position, i64 %size) noinline nounwind {
entry:
  %length_at = getelementptr i64, ptr %table, i64 1
  %length = load i64, ptr %length_at
  %data = load ptr, ptr %table
  %offset = mul i64 %position, %size
  %there = getelementptr i8, ptr %data, i64 %offset
  %next = getelementptr i8, ptr %there, i64 %size
  %last = sub i64 %length, 1
  %behind = sub i64 %last, %position
  %bytes = mul i64 %behind, %size
  call void @llvm.memmove.p0.p0.i64(ptr %next, ptr %there, i64 %bytes, i1 false)
  call void @llvm.memset.p0.i64(ptr %there, i8 0, i64 %size, i1 false)
  ret void
}

define internal void @table_close(ptr %table, i64 %position, i64 %size) noinline nounwind {
entry:
  %length_at = getelementptr i64, ptr %table, i64 1
  %length = load i64, ptr %length_at
  %data = load ptr, ptr %table
  %offset = mul i64 %position, %size
  %there = getelementptr i8, ptr %data, i64 %offset
  %next = getelementptr i8, ptr %there, i64 %size
  %last = sub i64 %length, 1
  %behind = sub i64 %last, %position
  %bytes = mul i64 %behind, %size
  call void @llvm.memmove.p0.p0.i64(ptr %there, ptr %next, i64 %bytes, i1 false)
  store i64 %last, ptr %length_at
  ret void
}
