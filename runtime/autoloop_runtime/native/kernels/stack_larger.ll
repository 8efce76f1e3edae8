;; ``@free_data``: give up the memory of a stack's elements; it has none after that. ``@stack_larger``: the stack, with
;; room for at least %bytes in place of what it had for %position elements; null if there is no memory
declare i64 @${REUSE}(ptr, i64)
declare i64 @llvm.ctlz.i64(i64, i1)

define internal void @free_data(ptr %stack) noinline nounwind {
entry:
  %data = load ptr, ptr %stack
  %class_at = getelementptr i64, ptr %stack, i64 7
  %class = load i64, ptr %class_at
  store i64 0, ptr %class_at
  %own = icmp eq i64 %class, 0
  br i1 %own, label %free, label %give
give:
  %its = sub i64 %class, 1
  %ignored = call i64 @${REUSE}(ptr %data, i64 %its)
  ret void
free:
  call void @free(ptr %data)
  ret void
}

define internal ptr @stack_larger(ptr %stack, i64 %position, i64 %bytes, i64 %size) noinline nounwind {
entry:
  %old = load ptr, ptr %stack
  %class_at = getelementptr i64, ptr %stack, i64 7
  %room_at = getelementptr i64, ptr %stack, i64 2
  ; the logarithm of the next power of two
  %less = sub i64 %bytes, 1
  %zeros = call i64 @llvm.ctlz.i64(i64 %less, i1 false)
  %power = sub i64 64, %zeros
  %wanted = sub i64 %power, ${SMALLEST}
  %listed = icmp ult i64 %wanted, ${CLASSES}
  br i1 %listed, label %ask, label %move
ask:
  %word = call i64 @${REUSE}(ptr null, i64 %wanted)
  %none = icmp eq i64 %word, 0
  br i1 %none, label %round, label %take
take:
  %found = and i64 %word, ${CLASS_MASK}
  %address = and i64 %word, ${ADDRESS_MASK}
  %block = inttoptr i64 %address to ptr
  %used = mul i64 %position, %size
  call void @llvm.memcpy.p0.p0.i64(ptr %block, ptr %old, i64 %used, i1 false)
  call void @free_data(ptr %stack)
  %its_power = add i64 %found, ${SMALLEST}
  %its_bytes = shl i64 1, %its_power
  br label %set
round:
  %rounded = shl i64 1, %power
  br label %move
move:
  %amount = phi i64 [ %bytes, %entry ], [ %rounded, %round ]
  %class = phi i64 [ -1, %entry ], [ %wanted, %round ]
  %at_once = call ptr @realloc(ptr %old, i64 %amount)
  %failed = icmp eq ptr %at_once, null
  br i1 %failed, label %save, label %ask_pages
save:
  ; what is kept may be what is missing
  %ignored = call i64 @${REUSE}(ptr null, i64 -2)
  %after = call ptr @realloc(ptr %old, i64 %amount)
  %none_left = icmp eq ptr %after, null
  br i1 %none_left, label %fail, label %ask_pages
ask_pages:
  %moved = phi ptr [ %at_once, %move ], [ %after, %save ]
  call void @huge_pages(ptr %moved, i64 %amount)
  br label %set
set:
  %data = phi ptr [ %block, %take ], [ %moved, %ask_pages ]
  %all = phi i64 [ %its_bytes, %take ], [ %amount, %ask_pages ]
  %kind = phi i64 [ %found, %take ], [ %class, %ask_pages ]
  store ptr %data, ptr %stack
  %room = udiv i64 %all, %size
  store i64 %room, ptr %room_at
  %next = add i64 %kind, 1
  store i64 %next, ptr %class_at
  ret ptr %stack
fail:
  ret ptr null
}
