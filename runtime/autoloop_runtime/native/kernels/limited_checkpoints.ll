;; ``@limited_of``: the store, made if there is none. ``@limited_place``: where the state at the beginning of iteration
;; %n goes, null if it is not kept. ``@limited_latest``: the last segment up to %s that is kept. ``@limited_at``: where
;; the state of a segment is. ``@limited_rewind``: see ``Limited.rewound``; ``@stride``: see ``checkpoint_schedule``
define internal ptr @limited_of(ptr %list, ptr %store, i64 %most, i64 %size) noinline nounwind {
entry:
  %none = icmp eq ptr %store, null
  br i1 %none, label %make, label %there
there:
  ret ptr %store
make:
  %tables = mul i64 %most, 32
  %words = add i64 %tables, ${HEAD_BYTES_AND_ONE}
  %space = mul i64 %most, %size
  %made = call ptr @stack_made(ptr %list, i64 %words, i64 %space, i64 %most)
  %failed = icmp eq ptr %made, null
  br i1 %failed, label %fail, label %fill
fill:
  %interval_at = getelementptr i64, ptr %made, i64 4
  store i64 %most, ptr %interval_at
  %planned_at = getelementptr i64, ptr %made, i64 ${HEAD}
  store i64 -1, ptr %planned_at
  %twice = shl i64 %most, 1
  %first = add i64 %twice, ${HEAD_AND_ONE}
  %places = getelementptr i64, ptr %made, i64 %first
  br label %loop
loop:
  %k = phi i64 [ 0, %fill ], [ %next, %loop ]
  %at = getelementptr i64, ptr %places, i64 %k
  store i64 %k, ptr %at
  %next = add i64 %k, 1
  %end = icmp eq i64 %next, %most
  br i1 %end, label %done, label %loop
done:
  ret ptr %made
fail:
  ret ptr null
}

define internal ptr @limited_copy(ptr %list, ptr %store, i64 %most, i64 %size) noinline nounwind {
entry:
  %none = icmp eq ptr %store, null
  br i1 %none, label %same, label %make
same:
  ret ptr %store
make:
  %made = call ptr @limited_of(ptr %list, ptr null, i64 %most, i64 %size)
  %failed = icmp eq ptr %made, null
  br i1 %failed, label %done, label %copy
copy:
  %length_at = getelementptr i64, ptr %store, i64 1
  %length = load i64, ptr %length_at
  %made_length = getelementptr i64, ptr %made, i64 1
  store i64 %length, ptr %made_length
  %from = getelementptr i64, ptr %store, i64 ${HEAD}
  %to = getelementptr i64, ptr %made, i64 ${HEAD}
  %tables = mul i64 %most, 32
  %words = add i64 %tables, 8
  call void @llvm.memcpy.p0.p0.i64(ptr %to, ptr %from, i64 %words, i1 false)
  %data = load ptr, ptr %store
  %made_data = load ptr, ptr %made
  %space = mul i64 %most, %size
  call void @llvm.memcpy.p0.p0.i64(ptr %made_data, ptr %data, i64 %space, i1 false)
  br label %done
done:
  ret ptr %made
}

; the checkpoint with number %k makes room: the ones behind it move up, its place is the first free one
define internal void @limited_drop(ptr %segments, i64 %most, i64 %k, i64 %last) noinline nounwind {
entry:
  %levels = getelementptr i64, ptr %segments, i64 %most
  %places = getelementptr i64, ptr %levels, i64 %most
  %place_at = getelementptr i64, ptr %places, i64 %k
  %place = load i64, ptr %place_at
  br label %loop
loop:
  %i = phi i64 [ %k, %entry ], [ %next, %move ]
  %end = icmp uge i64 %i, %last
  br i1 %end, label %done, label %move
move:
  %next = add i64 %i, 1
  %s_to = getelementptr i64, ptr %segments, i64 %i
  %s_from = getelementptr i64, ptr %segments, i64 %next
  %s = load i64, ptr %s_from
  store i64 %s, ptr %s_to
  %l_to = getelementptr i64, ptr %levels, i64 %i
  %l_from = getelementptr i64, ptr %levels, i64 %next
  %l = load i64, ptr %l_from
  store i64 %l, ptr %l_to
  %p_to = getelementptr i64, ptr %places, i64 %i
  %p_from = getelementptr i64, ptr %places, i64 %next
  %p = load i64, ptr %p_from
  store i64 %p, ptr %p_to
  br label %loop
done:
  %last_at = getelementptr i64, ptr %places, i64 %last
  store i64 %place, ptr %last_at
  ret void
}

define internal ptr @limited_keep(ptr %store, i64 %segment, i64 %most, i64 %size) noinline nounwind {
entry:
  %length_at = getelementptr i64, ptr %store, i64 1
  %length = load i64, ptr %length_at
  %planned_at = getelementptr i64, ptr %store, i64 ${HEAD}
  %planned = load i64, ptr %planned_at
  %segments = getelementptr i64, ptr %store, i64 ${HEAD_AND_ONE}
  %levels = getelementptr i64, ptr %segments, i64 %most
  %places = getelementptr i64, ptr %levels, i64 %most
  %plan = getelementptr i64, ptr %places, i64 %most
  %known = icmp sge i64 %planned, 0
  br i1 %known, label %find, label %full
find:
  %f = phi i64 [ 0, %entry ], [ %f_next, %other ]
  %f_end = icmp eq i64 %f, %planned
  br i1 %f_end, label %no, label %compare
compare:
  %f_at = getelementptr i64, ptr %plan, i64 %f
  %wanted = load i64, ptr %f_at
  %is = icmp eq i64 %wanted, %segment
  br i1 %is, label %add, label %other
other:
  %f_next = add i64 %f, 1
  br label %find
no:
  ret ptr null
full:
  %is_full = icmp eq i64 %length, %most
  br i1 %is_full, label %room, label %add
room:
  %last = sub i64 %length, 1
  %last_at = getelementptr i64, ptr %levels, i64 %last
  %last_level = load i64, ptr %last_at
  %before_last = sub i64 %length, 2
  br label %search
search:
  %k = phi i64 [ %before_last, %room ], [ %k_next, %higher ]
  %highest = phi i64 [ %last_level, %room ], [ %highest_next, %higher ]
  %k_end = icmp eq i64 %k, 0
  br i1 %k_end, label %raise, label %look
look:
  %k_at = getelementptr i64, ptr %levels, i64 %k
  %level = load i64, ptr %k_at
  %lower = icmp slt i64 %level, %highest
  br i1 %lower, label %leave, label %higher
higher:
  %highest_next = call i64 @llvm.smax.i64(i64 %highest, i64 %level)
  %k_next = sub i64 %k, 1
  br label %search
raise:
  %raised = add i64 %last_level, 1
  br label %leave
leave:
  %leaving = phi i64 [ %k, %look ], [ %last, %raise ]
  %new_level = phi i64 [ 0, %look ], [ %raised, %raise ]
  call void @limited_drop(ptr %segments, i64 %most, i64 %leaving, i64 %last)
  br label %add
add:
  %number = phi i64 [ %length, %compare ], [ %length, %full ], [ %last, %leave ]
  %its_level = phi i64 [ 0, %compare ], [ 0, %full ], [ %new_level, %leave ]
  %segment_at = getelementptr i64, ptr %segments, i64 %number
  store i64 %segment, ptr %segment_at
  %level_at = getelementptr i64, ptr %levels, i64 %number
  store i64 %its_level, ptr %level_at
  %more = add i64 %number, 1
  store i64 %more, ptr %length_at
  %place_at = getelementptr i64, ptr %places, i64 %number
  %place = load i64, ptr %place_at
  %data = load ptr, ptr %store
  %offset = mul i64 %place, %size
  %where = getelementptr i8, ptr %data, i64 %offset
  ret ptr %where
}

define internal ptr @limited_place(ptr %store, i64 %n, i64 %most, i64 %size) alwaysinline nounwind {
entry:
  %within = urem i64 %n, %most
  %begins = icmp eq i64 %within, 0
  br i1 %begins, label %keep, label %done
keep:
  %segment = udiv i64 %n, %most
  %found = call ptr @limited_keep(ptr %store, i64 %segment, i64 %most, i64 %size)
  br label %done
done:
  %where = phi ptr [ null, %entry ], [ %found, %keep ]
  ret ptr %where
}

; the number of the last checkpoint that is not behind segment %s
define internal i64 @limited_number(ptr %store, i64 %s) noinline nounwind {
entry:
  %length_at = getelementptr i64, ptr %store, i64 1
  %length = load i64, ptr %length_at
  %segments = getelementptr i64, ptr %store, i64 ${HEAD_AND_ONE}
  br label %loop
loop:
  %k = phi i64 [ %length, %entry ], [ %number, %look ]
  %number = sub i64 %k, 1
  %end = icmp sle i64 %number, 0
  br i1 %end, label %done, label %look
look:
  %at = getelementptr i64, ptr %segments, i64 %number
  %segment = load i64, ptr %at
  %behind = icmp sgt i64 %segment, %s
  br i1 %behind, label %loop, label %done
done:
  ret i64 %number
}

define internal i64 @limited_latest(ptr %store, i64 %s) noinline nounwind {
entry:
  %number = call i64 @limited_number(ptr %store, i64 %s)
  %segments = getelementptr i64, ptr %store, i64 ${HEAD_AND_ONE}
  %at = getelementptr i64, ptr %segments, i64 %number
  %segment = load i64, ptr %at
  ret i64 %segment
}

define internal i64 @limited_at(ptr %store, i64 %s, i64 %most) noinline nounwind {
entry:
  %number = call i64 @limited_number(ptr %store, i64 %s)
  %segments = getelementptr i64, ptr %store, i64 ${HEAD_AND_ONE}
  %twice = shl i64 %most, 1
  %places = getelementptr i64, ptr %segments, i64 %twice
  %at = getelementptr i64, ptr %places, i64 %number
  %place = load i64, ptr %at
  ret i64 %place
}

define internal i64 @stride(i64 %steps, i64 %slots) noinline nounwind {
entry:
  %start = add i64 %slots, 1
  br label %loop
loop:
  %r = phi i64 [ 1, %entry ], [ %more, %up ]
  %c = phi i64 [ %start, %entry ], [ %larger, %up ]
  %c1 = phi i64 [ 1, %entry ], [ %c, %up ]
  %c2 = phi i64 [ 0, %entry ], [ %c1, %up ]
  %n = add i64 %slots, %r
  %enough = icmp sge i64 %c, %steps
  br i1 %enough, label %done, label %up
up:
  %more = add i64 %r, 1
  %n1 = add i64 %n, 1
  %product = mul i64 %c, %n1
  %larger = sdiv i64 %product, %more
  br label %loop
done:
  %part = mul i64 %c, %slots
  %fewer = sdiv i64 %part, %n
  %rest = sub i64 %steps, %fewer
  %least = call i64 @llvm.smax.i64(i64 %c2, i64 1)
  %result = call i64 @llvm.smax.i64(i64 %least, i64 %rest)
  ret i64 %result
}

define internal void @limited_rewind(ptr %store, i64 %s, i64 %most) noinline nounwind {
entry:
  %number = call i64 @limited_number(ptr %store, i64 %s)
  %count = add i64 %number, 1
  %length_at = getelementptr i64, ptr %store, i64 1
  store i64 %count, ptr %length_at
  %segments = getelementptr i64, ptr %store, i64 ${HEAD_AND_ONE}
  %last_at = getelementptr i64, ptr %segments, i64 %number
  %last = load i64, ptr %last_at
  %thrice = mul i64 %most, 3
  %plan = getelementptr i64, ptr %segments, i64 %thrice
  %room = sub i64 %most, %count
  br label %loop
loop:
  %k = phi i64 [ 0, %entry ], [ %k_next, %step ]
  %first = phi i64 [ %last, %entry ], [ %next, %step ]
  %free = sub i64 %room, %k
  %left = icmp sgt i64 %free, 0
  %before = icmp slt i64 %first, %s
  %goes_on = and i1 %left, %before
  br i1 %goes_on, label %step, label %done
step:
  %distance = sub i64 %s, %first
  %steps = add i64 %distance, 1
  %slots = add i64 %free, 1
  %stride = call i64 @stride(i64 %steps, i64 %slots)
  %next = add i64 %first, %stride
  %at = getelementptr i64, ptr %plan, i64 %k
  store i64 %next, ptr %at
  %k_next = add i64 %k, 1
  br label %loop
done:
  %planned_at = getelementptr i64, ptr %store, i64 ${HEAD}
  store i64 %k, ptr %planned_at
  ret void
}
