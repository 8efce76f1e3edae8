;; as ``helper_threads``, where there are no POSIX threads
@state = internal global [${SIZE} x i8] zeroinitializer, align 128

define ptr @${name}(ptr %task, ptr %frame, i64 %rounds, i64 %piece, i64 %cost) {
  %ask = icmp eq ptr %task, null
  br i1 %ask, label %told, label %go
go:
  call void @alone(ptr %task, ptr %frame, i64 %rounds, i64 %piece)
  br label %told
told:
  ret ptr @state
}
