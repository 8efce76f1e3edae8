;; lists whose elements are taken off or replaced: stacks that one holds alone. ``@list_copy``: another one with the
;; same elements; null of none, or if there is no memory. ``@list_remove``: take an element off, those behind it move up.
;; ``@list_open``: make room for one more, for which there is memory, before the one at a position.
;; ``@list_of_rows``: a list with room for so many elements, which are to be written to it; null if there is no memory
define internal ptr @list_copy(ptr %list, ptr %stack, i64 %size) noinline nounwind {
entry:
  %none = icmp eq ptr %stack, null
  br i1 %none, label %nothing, label %look
look:
  %length_at = getelementptr i64, ptr %stack, i64 1
  %length = load i64, ptr %length_at
  %room = call i64 @llvm.umax.i64(i64 %length, i64 ${FIRST})
  %space = mul i64 %room, %size
  %made = call ptr @stack_made(ptr %list, i64 ${HEAD_BYTES}, i64 %space, i64 %room)
  %failed = icmp eq ptr %made, null
  br i1 %failed, label %nothing, label %fill
fill:
  %from = load ptr, ptr %stack
  %to = load ptr, ptr %made
  %bytes = mul i64 %length, %size
  call void @llvm.memcpy.p0.p0.i64(ptr %to, ptr %from, i64 %bytes, i1 false)
  %made_length_at = getelementptr i64, ptr %made, i64 1
  store i64 %length, ptr %made_length_at
  ret ptr %made
nothing:
  ret ptr null
}

define internal void @list_remove(ptr %stack, i64 %position, i64 %size) noinline nounwind {
entry:
  %length_at = getelementptr i64, ptr %stack, i64 1
  %length = load i64, ptr %length_at
  %left = sub i64 %length, 1
  store i64 %left, ptr %length_at
  %data = load ptr, ptr %stack
  %offset = mul i64 %position, %size
  %to = getelementptr i8, ptr %data, i64 %offset
  %from = getelementptr i8, ptr %to, i64 %size
  %behind = sub i64 %left, %position
  %bytes = mul i64 %behind, %size
  call void @llvm.memmove.p0.p0.i64(ptr %to, ptr %from, i64 %bytes, i1 false)
  ret void
}

define internal void @list_open(ptr %stack, i64 %position, i64 %length, i64 %size) noinline nounwind {
entry:
  %length_at = getelementptr i64, ptr %stack, i64 1
  %more = add i64 %length, 1
  store i64 %more, ptr %length_at
  %data = load ptr, ptr %stack
  %offset = mul i64 %position, %size
  %from = getelementptr i8, ptr %data, i64 %offset
  %to = getelementptr i8, ptr %from, i64 %size
  %behind = sub i64 %length, %position
  %bytes = mul i64 %behind, %size
  call void @llvm.memmove.p0.p0.i64(ptr %to, ptr %from, i64 %bytes, i1 false)
  ret void
}

define internal ptr @list_of_rows(ptr %list, i64 %length, i64 %size) noinline nounwind {
entry:
  %room = call i64 @llvm.umax.i64(i64 %length, i64 ${FIRST})
  %space = mul i64 %room, %size
  %made = call ptr @stack_made(ptr %list, i64 ${HEAD_BYTES}, i64 %space, i64 %room)
  %failed = icmp eq ptr %made, null
  br i1 %failed, label %done, label %set
set:
  %length_at = getelementptr i64, ptr %made, i64 1
  store i64 %length, ptr %length_at
  br label %done
done:
  ret ptr %made
}
