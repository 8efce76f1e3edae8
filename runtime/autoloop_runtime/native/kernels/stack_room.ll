;; room for one more element, of stacks that stay in memory, or of those that may leave it
; a stack with exactly %position elements, those of %stack, and room for one more; null if there is no memory
define internal ptr @${name}_with_room(ptr %list, ptr %stack, i64 %position, i64 %size) noinline nounwind {
entry:
  %none = icmp eq ptr %stack, null
  br i1 %none, label %make, label %look
look:
  %length_at = getelementptr i64, ptr %stack, i64 1
  %length = load i64, ptr %length_at
  %at_end = icmp eq i64 %length, %position
  br i1 %at_end, label %grow, label %make
grow:
  %room_at = getelementptr i64, ptr %stack, i64 2
  %room = load i64, ptr %room_at
  %more = shl i64 %room, 1
  %bytes = mul i64 %more, %size
  %old = load ptr, ptr %stack
${SWAP}  %larger = call ptr @stack_larger(ptr %stack, i64 %position, i64 %bytes, i64 %size)
  ret ptr %larger
make:
  %twice = shl i64 %position, 1
  %first = call i64 @llvm.umax.i64(i64 %twice, i64 ${FIRST})
  %space = mul i64 %first, %size
  %made = call ptr @stack_made(ptr %list, i64 ${HEAD_BYTES}, i64 %space, i64 %first)
  %bad = icmp eq ptr %made, null
  br i1 %bad, label %fail, label %fill
fill:
  %data = load ptr, ptr %made
  %made_length = getelementptr i64, ptr %made, i64 1
  store i64 %position, ptr %made_length
  %copies = icmp ne i64 %position, 0
  br i1 %copies, label %copy, label %done
copy:
  %from = load ptr, ptr %stack
  %amount = mul i64 %position, %size
  call void @llvm.memcpy.p0.p0.i64(ptr %data, ptr %from, i64 %amount, i1 false)
  br label %done
done:
  ret ptr %made
fail:
  ret ptr null
}

define internal ptr @${name}_at(ptr %list, ptr %stack, i64 %position, i64 %size) alwaysinline nounwind {
entry:
  %none = icmp eq ptr %stack, null
  br i1 %none, label %slow, label %look
look:
  %length_at = getelementptr i64, ptr %stack, i64 1
  %length = load i64, ptr %length_at
  %room_at = getelementptr i64, ptr %stack, i64 2
  %room = load i64, ptr %room_at
  %at_end = icmp eq i64 %length, %position
  %fits = icmp ult i64 %position, %room
  %fast = and i1 %at_end, %fits
  br i1 %fast, label %done, label %slow
slow:
  %other = call ptr @${name}_with_room(ptr %list, ptr %stack, i64 %position, i64 %size)
  br label %done
done:
  %result = phi ptr [ %stack, %look ], [ %other, %slow ]
  ret ptr %result
}
