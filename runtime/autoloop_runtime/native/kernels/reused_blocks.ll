;; the list of blocks that are kept for reuse, see ``block_reuse``
@state = internal global [${STATE_WORDS} x i64] zeroinitializer, align 128
declare void @free(ptr)
declare i64 @llvm.umin.i64(i64, i64)
${DROP}

; the smallest block of at least a class, with its class; 0 if there is none
define internal i64 @take(i64 %class) {
entry:
  br label %search
search:
  br label %loop
loop:
  %k = phi i64 [ 2, %search ], [ %next, %loop ]
  %best = phi i64 [ 0, %search ], [ %better, %loop ]
  %place = phi i64 [ 2, %search ], [ %nearer, %loop ]
  %least = phi i64 [ ${CLASSES}, %search ], [ %lower, %loop ]
  %at = getelementptr i64, ptr @state, i64 %k
  %one = load atomic i64, ptr %at monotonic, align 8
  %its = and i64 %one, ${CLASS_MASK}
  %some = icmp ne i64 %one, 0
  %large = icmp uge i64 %its, %class
  %small = icmp ult i64 %its, %least
  %may = and i1 %some, %large
  %does = and i1 %may, %small
  %better = select i1 %does, i64 %one, i64 %best
  %nearer = select i1 %does, i64 %k, i64 %place
  %lower = select i1 %does, i64 %its, i64 %least
  %next = add i64 %k, 1
  %more = icmp ult i64 %next, ${STATE_WORDS}
  br i1 %more, label %loop, label %found
found:
  %none = icmp eq i64 %better, 0
  br i1 %none, label %done, label %try
try:
  %slot = getelementptr i64, ptr @state, i64 %nearer
  %pair = cmpxchg ptr %slot, i64 %better, i64 0 acq_rel acquire
  %mine = extractvalue { i64, i1 } %pair, 1
  br i1 %mine, label %count, label %search
count:
  %power = add i64 %lower, ${SMALLEST}
  %bytes = shl i64 1, %power
  %kept_at = getelementptr i64, ptr @state, i64 1
  %ignored = atomicrmw sub ptr %kept_at, i64 %bytes monotonic
  br label %done
done:
  ret i64 %better
}

; free the smallest block that is kept; false if there is none
define internal i1 @free_one() {
entry:
  %one = call i64 @take(i64 0)
  %none = icmp eq i64 %one, 0
  br i1 %none, label %end, label %some
some:
  %address = and i64 %one, ${ADDRESS_MASK}
  %block = inttoptr i64 %address to ptr
  call void @free(ptr %block)
  br label %end
end:
  %found = xor i1 %none, true
  ret i1 %found
}

; make room for so many bytes; false if they are more than may be kept
define internal i1 @room(i64 %bytes) {
entry:
  %budget = load atomic i64, ptr @state monotonic, align 8
  %never = icmp ugt i64 %bytes, %budget
  %kept_at = getelementptr i64, ptr @state, i64 1
  br i1 %never, label %no, label %look
look:
  %kept = load atomic i64, ptr %kept_at monotonic, align 8
  %sum = add i64 %kept, %bytes
  %over = icmp ugt i64 %sum, %budget
  br i1 %over, label %less, label %yes
less:
  %went = call i1 @free_one()
  br i1 %went, label %look, label %no
yes:
  ret i1 true
no:
  ret i1 false
}

define internal void @give(ptr %block, i64 %class) {
entry:
  %power = add i64 %class, ${SMALLEST}
  %bytes = shl i64 1, %power
  %kept_at = getelementptr i64, ptr @state, i64 1
  %fits = call i1 @room(i64 %bytes)
  br i1 %fits, label %drop, label %away
drop:
  %kept = call ptr @drop(ptr %block, i64 %bytes)
  %lost = icmp eq ptr %kept, null
  br i1 %lost, label %done, label %tag
tag:
  %address = ptrtoint ptr %kept to i64
  %word = or i64 %address, %class
  br label %put
put:
  %before = atomicrmw add ptr %kept_at, i64 %bytes monotonic
  br label %loop
loop:
  %k = phi i64 [ 2, %put ], [ %next, %on ]
  %at = getelementptr i64, ptr @state, i64 %k
  %pair = cmpxchg ptr %at, i64 0, i64 %word acq_rel acquire
  %there = extractvalue { i64, i1 } %pair, 1
  br i1 %there, label %done, label %on
on:
  %next = add i64 %k, 1
  %more = icmp ult i64 %next, ${STATE_WORDS}
  br i1 %more, label %loop, label %full
full:
  %after = atomicrmw sub ptr %kept_at, i64 %bytes monotonic
  %went = call i1 @free_one()
  br i1 %went, label %put, label %away
away:
  %unwanted = phi ptr [ %block, %entry ], [ %kept, %full ]
  call void @free(ptr %unwanted)
  br label %done
done:
  ret void
}

define i64 @${name}(ptr %block, i64 %class) {
entry:
  %none = icmp eq ptr %block, null
  br i1 %none, label %ask, label %gift
gift:
  call void @give(ptr %block, i64 %class)
  ret i64 0
ask:
  %all = icmp slt i64 %class, 0
  br i1 %all, label %trim, label %want
want:
  %found = call i64 @take(i64 %class)
  ret i64 %found
trim:
  %allowed = load atomic i64, ptr @state monotonic, align 8
  %some = icmp eq i64 %class, -1
  %budget = select i1 %some, i64 %allowed, i64 0
  %kept_at = getelementptr i64, ptr @state, i64 1
  %kept = load atomic i64, ptr %kept_at monotonic, align 8
  %over = icmp sgt i64 %kept, %budget
  br i1 %over, label %less, label %end
less:
  %went = call i1 @free_one()
  br i1 %went, label %trim, label %end
end:
  %place = ptrtoint ptr @state to i64
  ret i64 %place
}
