;; pieces of one job at a time, see ``thread_pool``
@state = internal global [${SIZE} x i8] zeroinitializer, align 128
${ALIASES}
declare i32 @pthread_create(ptr, ptr, ptr, ptr)
declare i32 @pthread_detach(i64)
declare i32 @pthread_attr_init(ptr)
declare i32 @pthread_attr_setstacksize(ptr, i64)
declare i32 @pthread_attr_destroy(ptr)
declare i32 @pthread_mutex_init(ptr, ptr)
declare i32 @pthread_mutex_lock(ptr)
declare i32 @pthread_mutex_unlock(ptr)
declare i32 @pthread_cond_init(ptr, ptr)
declare i32 @pthread_cond_wait(ptr, ptr)
declare i32 @pthread_cond_signal(ptr)
declare i32 @pthread_cond_broadcast(ptr)
declare i32 @clock_gettime(i32, ptr)

define internal i64 @now() {
  %time = alloca [2 x i64]
  %unused = call i32 @clock_gettime(i32 ${CLOCK}, ptr %time)
  %seconds = load i64, ptr %time
  %rest_at = getelementptr i64, ptr %time, i64 1
  %rest = load i64, ptr %rest_at
  %whole = mul i64 %seconds, 1000000000
  %now = add i64 %whole, %rest
  ret i64 %now
}

; pieces until none is left
define internal void @pieces(ptr %task, ptr %frame, i64 %rounds, i64 %piece) {
entry:
  br label %take
take:
  %first = atomicrmw add ptr @next, i64 %piece acq_rel
  %some = icmp ult i64 %first, %rounds
  br i1 %some, label %do, label %end
do:
  %left = sub i64 %rounds, %first
  %count = call i64 @llvm.umin.i64(i64 %left, i64 %piece)
  call void %task(ptr %frame, i64 %first, i64 %count)
  br label %take
end:
  ret void
}

; look at a word for a while: until it is (or is not) a value
define internal void @spin(ptr %word, i64 %value, i1 %until_equal) {
entry:
  br label %look
look:
  %n = phi i64 [ 0, %entry ], [ %n1, %again ]
  %now = load atomic i64, ptr %word acquire, align 8
  %same = icmp eq i64 %now, %value
  %over = icmp eq i1 %same, %until_equal
  br i1 %over, label %end, label %again
again:
  ${PAUSE}
  %n1 = add i64 %n, 1
  %more = icmp ult i64 %n1, ${SPINS}
  br i1 %more, label %look, label %end
end:
  ret void
}

define internal ptr @helper(ptr %unused) {
entry:
  br label %idle
idle:
  %seen = phi i64 [ 0, %entry ], [ %new, %late ], [ %new, %leave ]
  call void @spin(ptr @epoch, i64 %seen, i1 false)
  %l0 = call i32 @pthread_mutex_lock(ptr @mutex)
  br label %test
test:
  %new = load i64, ptr @epoch
  %same = icmp eq i64 %new, %seen
  br i1 %same, label %sleep, label %join
sleep:
  %s0 = load i64, ptr @asleep
  %s1 = add i64 %s0, 1
  store i64 %s1, ptr @asleep
  %w = call i32 @pthread_cond_wait(ptr @work, ptr @mutex)
  %s2 = load i64, ptr @asleep
  %s3 = sub i64 %s2, 1
  store i64 %s3, ptr @asleep
  br label %test
join:
  %o = load i64, ptr @open
  %is_open = icmp ne i64 %o, 0
  %a0 = load i64, ptr @active
  %most = load i64, ptr @most
  %room = icmp ult i64 %a0, %most
  %may = and i1 %is_open, %room
  br i1 %may, label %run, label %late
late:
  %u0 = call i32 @pthread_mutex_unlock(ptr @mutex)
  br label %idle
run:
  %a1 = add i64 %a0, 1
  store atomic i64 %a1, ptr @active monotonic, align 8
  %task = load ptr, ptr @task
  %frame = load ptr, ptr @frame
  %rounds = load i64, ptr @rounds
  %piece = load i64, ptr @piece
  %u1 = call i32 @pthread_mutex_unlock(ptr @mutex)
  call void @pieces(ptr %task, ptr %frame, i64 %rounds, i64 %piece)
  %l1 = call i32 @pthread_mutex_lock(ptr @mutex)
  %a2 = load i64, ptr @active
  %a3 = sub i64 %a2, 1
  store atomic i64 %a3, ptr @active release, align 8
  %w0 = load i64, ptr @waits
  %last = icmp eq i64 %a3, 0
  %waits = icmp ne i64 %w0, 0
  %wake = and i1 %last, %waits
  br i1 %wake, label %signal, label %leave
signal:
  %g = call i32 @pthread_cond_signal(ptr @done)
  br label %leave
leave:
  %u2 = call i32 @pthread_mutex_unlock(ptr @mutex)
  br label %idle
}

; make helpers until there are as many as wanted, or the system gives no more; only with the right to have a job
define internal i64 @helpers(i64 %wanted) {
entry:
  %thread = alloca i64
  %form = alloca [32 x i64], align 16
  %there = load i64, ptr @started
  %none = icmp eq i64 %there, 0
  br i1 %none, label %first, label %test
first:
  %i0 = call i32 @pthread_mutex_init(ptr @mutex, ptr null)
  %i1 = call i32 @pthread_cond_init(ptr @work, ptr null)
  %i2 = call i32 @pthread_cond_init(ptr @done, ptr null)
  br label %test
test:
  %n = load i64, ptr @started
  %fewer = icmp ult i64 %n, %wanted
  br i1 %fewer, label %make, label %end
make:
  %f0 = call i32 @pthread_attr_init(ptr %form)
  %f1 = call i32 @pthread_attr_setstacksize(ptr %form, i64 ${STACK})
  %failed = call i32 @pthread_create(ptr %thread, ptr %form, ptr @helper, ptr null)
  %f2 = call i32 @pthread_attr_destroy(ptr %form)
  %bad = icmp ne i32 %failed, 0
  br i1 %bad, label %end, label %made
made:
  %id = load i64, ptr %thread
  %d = call i32 @pthread_detach(i64 %id)
  %n1 = add i64 %n, 1
  store i64 %n1, ptr @started
  br label %test
end:
  %now = load i64, ptr @started
  ret i64 %now
}

define ptr @${name}(ptr %task, ptr %frame, i64 %rounds, i64 %piece) {
entry:
  %ask = icmp eq ptr %task, null
  br i1 %ask, label %told, label %weigh
weigh:
  %wanted = load atomic i64, ptr @wanted monotonic, align 8
  %most = sub i64 %wanted, 1
  %several = icmp sgt i64 %wanted, 1
  %long = icmp ugt i64 %rounds, %piece
  %worth = and i1 %several, %long
  br i1 %worth, label %look, label %serial
look:
  %begin = call i64 @now()
  %alone_until = load atomic i64, ptr @alone_until monotonic, align 8
  %may = icmp sge i64 %begin, %alone_until
  br i1 %may, label %try, label %serial
try:
  %pair = cmpxchg ptr @busy, i64 0, i64 1 acq_rel acquire
  %mine = extractvalue { i64, i1 } %pair, 1
  br i1 %mine, label %ready, label %serial
ready:
  %there = call i64 @helpers(i64 %most)
  %none = icmp eq i64 %there, 0
  br i1 %none, label %give_up, label %start
give_up:
  store atomic i64 0, ptr @busy release, align 8
  br label %serial
serial:
  call void @alone(ptr %task, ptr %frame, i64 %rounds, i64 %piece)
  br label %told
start:
  %l0 = call i32 @pthread_mutex_lock(ptr @mutex)
  store ptr %task, ptr @task
  store ptr %frame, ptr @frame
  store i64 %rounds, ptr @rounds
  store i64 %piece, ptr @piece
  store i64 %most, ptr @most
  store atomic i64 0, ptr @next monotonic, align 8
  store i64 1, ptr @open
  %e0 = load i64, ptr @epoch
  %e1 = add i64 %e0, 1
  store atomic i64 %e1, ptr @epoch release, align 8
  %asleep = load i64, ptr @asleep
  %sleepy = icmp ne i64 %asleep, 0
  br i1 %sleepy, label %wake, label %go
wake:
  %b = call i32 @pthread_cond_broadcast(ptr @work)
  br label %go
go:
  %u0 = call i32 @pthread_mutex_unlock(ptr @mutex)
  call void @pieces(ptr %task, ptr %frame, i64 %rounds, i64 %piece)
  %own_end = call i64 @now()
  %l1 = call i32 @pthread_mutex_lock(ptr @mutex)
  store i64 0, ptr @open
  %a0 = load i64, ptr @active
  %over = icmp eq i64 %a0, 0
  br i1 %over, label %end, label %linger
linger:
  %u1 = call i32 @pthread_mutex_unlock(ptr @mutex)
  call void @spin(ptr @active, i64 0, i1 true)
  %l2 = call i32 @pthread_mutex_lock(ptr @mutex)
  br label %check
check:
  %a1 = load i64, ptr @active
  %all = icmp eq i64 %a1, 0
  br i1 %all, label %waited, label %block
block:
  store i64 1, ptr @waits
  %w = call i32 @pthread_cond_wait(ptr @done, ptr @mutex)
  store i64 0, ptr @waits
  br label %check
waited:
  ; longer than it worked itself: the system has others to run
  %end_time = call i64 @now()
  %lost = sub i64 %end_time, %own_end
  %own = sub i64 %own_end, %begin
  %most_lost = add i64 %own, ${LATE}
  %late = icmp sgt i64 %lost, %most_lost
  br i1 %late, label %rest, label %end
rest:
  %a_while = mul i64 %lost, ${ALONE}
  %until = add i64 %end_time, %a_while
  store atomic i64 %until, ptr @alone_until monotonic, align 8
  br label %end
end:
  %u2 = call i32 @pthread_mutex_unlock(ptr @mutex)
  store atomic i64 0, ptr @busy release, align 8
  br label %told
told:
  ret ptr @state
}
