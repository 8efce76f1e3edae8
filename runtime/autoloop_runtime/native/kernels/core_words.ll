;; what ``core_code`` has besides arithmetic: the lock, which is the first word, and calls
declare i32 @sched_yield()
declare i32 @clock_gettime(i32, ptr)

define internal i64 @clock() {
  %time = alloca [2 x i64]
  %unused = call i32 @clock_gettime(i32 ${CLOCK}, ptr %time)
  %seconds = load i64, ptr %time
  %rest_at = getelementptr i64, ptr %time, i64 1
  %rest = load i64, ptr %rest_at
  %whole = mul i64 %seconds, 1000000000
  %now = add i64 %whole, %rest
  ret i64 %now
}

define internal i64 @acquire(ptr %m) {
entry:
  br label %try
try:
  %n = phi i64 [ 0, %entry ], [ %n2, %free ]
  %before = atomicrmw xchg ptr %m, i64 1 acquire, align 8
  %got = icmp eq i64 %before, 0
  br i1 %got, label %done, label %wait
wait:
  %k = phi i64 [ %n, %try ], [ %k2, %again ]
  ${PAUSE}
  %k2 = add i64 %k, 1
  %low = and i64 %k2, ${YIELD}
  %long = icmp eq i64 %low, 0
  br i1 %long, label %let, label %again
let:
  %unused = call i32 @sched_yield()
  br label %again
again:
  %now = load atomic i64, ptr %m monotonic, align 8
  %held = icmp ne i64 %now, 0
  br i1 %held, label %wait, label %free
free:
  %n2 = phi i64 [ %k2, %again ]
  br label %try
done:
  ret i64 %n
}

define internal i64 @release(ptr %m) {
  store atomic i64 0, ptr %m release, align 8
  ret i64 0
}

define internal i64 @peek(ptr %m, i64 %word) {
  %at = getelementptr i64, ptr %m, i64 %word
  %value = load atomic i64, ptr %at monotonic, align 8
  ret i64 %value
}

define internal i64 @pause() {
  ${PAUSE}
  ret i64 0
}

define internal i64 @byte(i64 %address) {
  %at = inttoptr i64 %address to ptr
  %found = load i8, ptr %at
  %value = zext i8 %found to i64
  ret i64 %value
}

define internal i64 @call_step(ptr %m, i64 %code, i64 %given, i64 %made, i64 %scratch) {
  %step = inttoptr i64 %code to ptr
  %in = getelementptr i64, ptr %m, i64 %given
  %out = getelementptr i64, ptr %m, i64 %made
  %own = inttoptr i64 %scratch to ptr
  %failed = call i32 %step(ptr %in, ptr %out, ptr %own)
  %found = sext i32 %failed to i64
  ret i64 %found
}
