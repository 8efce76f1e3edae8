;; asks for large pages, each of which costs one page fault instead of five hundred; for all of the mapping, because one
;; of two minds could not grow without being copied
declare i32 @madvise(ptr, i64, i32)
define internal void @huge_pages(ptr %data, i64 %bytes) noinline nounwind {
entry:
  %many = icmp uge i64 %bytes, 4194304
  br i1 %many, label %ask, label %done
ask:
  %start = ptrtoint ptr %data to i64
  %page = and i64 %start, -4096
  %before = sub i64 %start, %page
  %length = add i64 %bytes, %before
  %from = inttoptr i64 %page to ptr
  %ignored = call i32 @madvise(ptr %from, i64 %length, i32 14)
  br label %done
done:
  ret void
}
