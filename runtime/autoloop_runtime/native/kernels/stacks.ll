;; making stacks and giving them back, see ``stack_code``
declare ptr @malloc(i64)
declare ptr @realloc(ptr, i64)
declare void @free(ptr)

${HUGE_PAGES}

${LARGER}

; a new stack of so many bytes with %space bytes for %room elements; null if there is no memory
define internal ptr @stack_made(ptr %list, i64 %words, i64 %space, i64 %room) noinline nounwind {
entry:
  %made = call ptr @malloc(i64 %words)
  %data = call ptr @malloc(i64 %space)
  %a = icmp eq ptr %made, null
  %b = icmp eq ptr %data, null
  %bad = or i1 %a, %b
  br i1 %bad, label %fail, label %fill
fill:
  store ptr %data, ptr %made
  %length_at = getelementptr i64, ptr %made, i64 1
  store i64 0, ptr %length_at
  %room_at = getelementptr i64, ptr %made, i64 2
  store i64 %room, ptr %room_at
  %next_at = getelementptr i64, ptr %made, i64 3
  %before = load ptr, ptr %list
  store ptr %before, ptr %next_at
  store ptr %made, ptr %list
  %interval_at = getelementptr i64, ptr %made, i64 4
  store i64 1, ptr %interval_at
  %keep_at = getelementptr i64, ptr %made, i64 5
  store i64 0, ptr %keep_at
  %swapped_at = getelementptr i64, ptr %made, i64 6
  store i64 0, ptr %swapped_at
  %class_at = getelementptr i64, ptr %made, i64 7
  store i64 0, ptr %class_at
  ret ptr %made
fail:
  call void @free(ptr %made)
  call void @free(ptr %data)
  ret ptr null
}

${ROOM}

; those that were made after %last, but for those whose word 5 says that they are kept
define internal void @free_stacks(ptr %list, ptr %last) noinline nounwind {
entry:
  br label %loop
loop:
  %link = phi ptr [ %list, %entry ], [ %link, %words ], [ %next_at, %kept ]
  %stack = load ptr, ptr %link
  %end = icmp eq ptr %stack, %last
  br i1 %end, label %done, label %one
one:
  %next_at = getelementptr i64, ptr %stack, i64 3
  %keep_at = getelementptr i64, ptr %stack, i64 5
  %keep = load i64, ptr %keep_at
  %is_kept = icmp ne i64 %keep, 0
  br i1 %is_kept, label %kept, label %gone
kept:
  br label %loop
gone:
  %next = load ptr, ptr %next_at
  store ptr %next, ptr %link
${RELEASE}  call void @free_data(ptr %stack)
  br label %words
words:
  call void @free(ptr %stack)
  br label %loop
done:
  ret void
}

define internal void @keep_stack(ptr %stack, i64 %keep) alwaysinline nounwind {
entry:
  %none = icmp eq ptr %stack, null
  br i1 %none, label %done, label %mark
mark:
  %keep_at = getelementptr i64, ptr %stack, i64 5
  store i64 %keep, ptr %keep_at
  br label %done
done:
  ret void
}
