;; the system may drop what is in a block (MADV_FREE of Linux). A block that grew is in pieces of small pages, each of
;; which the processor looks up, so another takes its place, of large pages (MADV_HUGEPAGE) that nobody touched yet
declare i32 @madvise(ptr, i64, i32)
declare i32 @posix_memalign(ptr, i64, i64)
define internal ptr @drop(ptr %block, i64 %bytes) {
entry:
  %made_at = alloca ptr
  %large = icmp uge i64 %bytes, ${HUGE}
  br i1 %large, label %look, label %done
look:
  %address = ptrtoint ptr %block to i64
  %within = and i64 %address, ${WITHIN}
  %whole = icmp eq i64 %within, 0
  br i1 %whole, label %tell, label %new
tell:
  %told = call i32 @madvise(ptr %block, i64 %bytes, i32 8)
  br label %done
new:
  call void @free(ptr %block)
  %failed = call i32 @posix_memalign(ptr %made_at, i64 ${HUGE}, i64 %bytes)
  %bad = icmp ne i32 %failed, 0
  br i1 %bad, label %lost, label %made
made:
  %other = load ptr, ptr %made_at
  %asked = call i32 @madvise(ptr %other, i64 %bytes, i32 14)
  br label %done
lost:
  br label %done
done:
  %result = phi ptr [ %block, %entry ], [ %block, %tell ], [ %other, %made ], [ null, %lost ]
  ret ptr %result
}
