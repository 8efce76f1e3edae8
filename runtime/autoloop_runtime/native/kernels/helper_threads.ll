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
declare i32 @sched_yield()
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

; the right to do some of what is left of the job ``epoch``, from the front or from behind: first unit and how many, none
define internal { i64, i64 } @take(i64 %epoch, i64 %shares, i1 %behind) {
entry:
  %c0 = load atomic i64, ptr @claims monotonic, align 8
  %tag = shl i64 %epoch, 16
  br label %look
look:
  %c = phi i64 [ %c0, %entry ], [ %seen, %try ]
  %of = and i64 %c, -65536
  %mine = icmp eq i64 %of, %tag
  %f0 = lshr i64 %c, 8
  %front = and i64 %f0, 255
  %back = and i64 %c, 255
  %left = sub i64 %back, %front
  %some = icmp ne i64 %left, 0
  %may = and i1 %mine, %some
  br i1 %may, label %try, label %none
try:
  %part = udiv i64 %left, %shares
  %n = call i64 @llvm.umax.i64(i64 %part, i64 1)
  %at_front = shl i64 %n, 8
  %c1 = add i64 %c, %at_front
  %c2 = sub i64 %c, %n
  %new = select i1 %behind, i64 %c2, i64 %c1
  %pair = cmpxchg ptr @claims, i64 %c, i64 %new acq_rel acquire
  %seen = extractvalue { i64, i1 } %pair, 0
  %done = extractvalue { i64, i1 } %pair, 1
  br i1 %done, label %got, label %look
got:
  %last = sub i64 %back, %n
  %first = select i1 %behind, i64 %last, i64 %front
  %r0 = insertvalue { i64, i64 } poison, i64 %first, 0
  %r1 = insertvalue { i64, i64 } %r0, i64 %n, 1
  ret { i64, i64 } %r1
none:
  ret { i64, i64 } zeroinitializer
}

; units of a job until none is left; gives how many
define internal i64 @units(i64 %epoch, ptr %task, ptr %frame, i64 %rounds, i64 %piece, i64 %unit, i64 %shares,
                           i1 %behind) {
entry:
  br label %take
take:
  %done = phi i64 [ 0, %entry ], [ %more, %did ]
  %claim = call { i64, i64 } @take(i64 %epoch, i64 %shares, i1 %behind)
  %n = extractvalue { i64, i64 } %claim, 1
  %some = icmp ne i64 %n, 0
  br i1 %some, label %do, label %end
do:
  %u0 = extractvalue { i64, i64 } %claim, 0
  %from = mul i64 %u0, %unit
  %u1 = add i64 %u0, %n
  %to0 = mul i64 %u1, %unit
  %to = call i64 @llvm.umin.i64(i64 %to0, i64 %rounds)
  br label %each
each:
  %first = phi i64 [ %from, %do ], [ %next, %each ]
  %left = sub i64 %to, %first
  %count = call i64 @llvm.umin.i64(i64 %left, i64 %piece)
  call void %task(ptr %frame, i64 %first, i64 %count)
  %next = add i64 %first, %piece
  %again = icmp ult i64 %next, %to
  br i1 %again, label %each, label %did
did:
  %more = add i64 %done, %n
  br label %take
end:
  ret i64 %done
}

; look at a word for a while: until it is (or is not) a value
define internal void @spin(ptr %word, i64 %value, i1 %until_equal) {
entry:
  br label %look
look:
  %n = phi i64 [ 0, %entry ], [ %n1, %on ]
  %now = load atomic i64, ptr %word acquire, align 8
  %same = icmp eq i64 %now, %value
  %over = icmp eq i1 %same, %until_equal
  br i1 %over, label %end, label %again
again:
  ${PAUSE}
  %n1 = add i64 %n, 1
  %more = icmp ult i64 %n1, ${SPINS}
  %turn = and i64 %n1, ${YIELD}
  %long = icmp eq i64 %turn, 0
  br i1 %long, label %yield, label %on
yield:
  ; who is waited for may be waiting for this processor
  %y = call i32 @sched_yield()
  br label %on
on:
  br i1 %more, label %look, label %end
end:
  ret void
}

define internal ptr @helper(ptr %which) {
entry:
  %number = ptrtoint ptr %which to i64
  br label %idle
idle:
  %seen = phi i64 [ 0, %entry ], [ %new, %job ], [ %new, %run ], [ %new, %add ], [ %new, %signal ]
  call void @spin(ptr @epoch, i64 %seen, i1 false)
  %e0 = load atomic i64, ptr @epoch acquire, align 8
  %still = icmp eq i64 %e0, %seen
  br i1 %still, label %drowsy, label %job
drowsy:
  %l0 = call i32 @pthread_mutex_lock(ptr @mutex)
  br label %test
test:
  ; who has a job next looks at one after the other's store, or this thread does
  %s0 = atomicrmw xchg ptr @asleep, i64 1 seq_cst
  %e1 = load atomic i64, ptr @epoch seq_cst, align 8
  %same = icmp eq i64 %e1, %seen
  br i1 %same, label %sleep, label %awake
sleep:
  %w = call i32 @pthread_cond_wait(ptr @work, ptr @mutex)
  br label %test
awake:
  %u0 = call i32 @pthread_mutex_unlock(ptr @mutex)
  br label %job
job:
  %new = phi i64 [ %e0, %idle ], [ %e1, %awake ]
  ; these may be of a later job: then this one is over and nothing of it is left to take
  %task = load atomic ptr, ptr @task monotonic, align 8
  %frame = load atomic ptr, ptr @frame monotonic, align 8
  %rounds = load atomic i64, ptr @rounds monotonic, align 8
  %piece = load atomic i64, ptr @piece monotonic, align 8
  %unit = load atomic i64, ptr @unit monotonic, align 8
  %most = load atomic i64, ptr @most monotonic, align 8
  %shares = load atomic i64, ptr @shares monotonic, align 8
  %room = icmp ult i64 %number, %most
  br i1 %room, label %run, label %idle
run:
  %done = call i64 @units(i64 %new, ptr %task, ptr %frame, i64 %rounds, i64 %piece, i64 %unit, i64 %shares, i1 true)
  %none = icmp eq i64 %done, 0
  br i1 %none, label %idle, label %add
add:
  %f = atomicrmw add ptr @finished, i64 %done seq_cst
  %w0 = load atomic i64, ptr @waits seq_cst, align 8
  %waits = icmp ne i64 %w0, 0
  br i1 %waits, label %signal, label %idle
signal:
  %l2 = call i32 @pthread_mutex_lock(ptr @mutex)
  %g = call i32 @pthread_cond_signal(ptr @done)
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
  %which = inttoptr i64 %n to ptr
  %failed = call i32 @pthread_create(ptr %thread, ptr %form, ptr @helper, ptr %which)
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

define ptr @${name}(ptr %task, ptr %frame, i64 %rounds, i64 %piece, i64 %cost) {
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
  ; short jobs have no time to look at the clock
  %short = icmp slt i64 %cost, ${SHORT}
  %alone_until = load atomic i64, ptr @alone_until monotonic, align 8
  %free = icmp eq i64 %alone_until, 0
  %timeless = and i1 %short, %free
  br i1 %timeless, label %try, label %clock
clock:
  %now = call i64 @now()
  %may = icmp sge i64 %now, %alone_until
  br i1 %may, label %again, label %serial
again:
  store atomic i64 0, ptr @alone_until monotonic, align 8
  br label %try
try:
  %begin = phi i64 [ 0, %look ], [ %now, %again ]
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
  ; so many pieces are a unit that there are no more units than fit into a byte
  %p0 = sub i64 %rounds, 1
  %p1 = udiv i64 %p0, %piece
  %m0 = udiv i64 %p1, 255
  %m1 = add i64 %m0, 1
  %unit = mul i64 %m1, %piece
  %u0 = udiv i64 %p0, %unit
  %units = add i64 %u0, 1
  %helping = call i64 @llvm.umin.i64(i64 %there, i64 %most)
  %all = add i64 %helping, 1
  %shares = mul i64 %all, 2
  store atomic i64 0, ptr @finished monotonic, align 8
  store atomic ptr %task, ptr @task monotonic, align 8
  store atomic ptr %frame, ptr @frame monotonic, align 8
  store atomic i64 %rounds, ptr @rounds monotonic, align 8
  store atomic i64 %piece, ptr @piece monotonic, align 8
  store atomic i64 %unit, ptr @unit monotonic, align 8
  store atomic i64 %most, ptr @most monotonic, align 8
  store atomic i64 %shares, ptr @shares monotonic, align 8
  %e0 = load atomic i64, ptr @epoch monotonic, align 8
  %e1 = add i64 %e0, 1
  %epoch = and i64 %e1, 281474976710655
  %tag = shl i64 %epoch, 16
  %claims = or i64 %tag, %units
  store atomic i64 %claims, ptr @claims release, align 8
  %before = atomicrmw xchg ptr @epoch, i64 %epoch seq_cst
  %asleep = load atomic i64, ptr @asleep seq_cst, align 8
  %sleepy = icmp ne i64 %asleep, 0
  br i1 %sleepy, label %rouse, label %go
rouse:
  ; to wake them takes as long as a short job: if that did not help of late, not for each of them
  %skip = load i64, ptr @skip
  %left = sub i64 %skip, 1
  %skips = icmp sgt i64 %left, 0
  %leave = and i1 %skips, %short
  br i1 %leave, label %later, label %wake
later:
  store i64 %left, ptr @skip
  br label %go
wake:
  %since = load i64, ptr @helped
  store i64 0, ptr @helped
  %gone = icmp ult i64 %since, ${FEW}
  %p2 = load i64, ptr @patience
  %w0 = select i1 %gone, i64 %p2, i64 1
  %w1 = shl i64 %w0, 1
  %w2 = call i64 @llvm.umin.i64(i64 %w1, i64 ${SKIPPED})
  %w3 = call i64 @llvm.umax.i64(i64 %w2, i64 2)
  store i64 %w3, ptr @patience
  store i64 %w3, ptr @skip
  %l0 = call i32 @pthread_mutex_lock(ptr @mutex)
  store atomic i64 0, ptr @asleep monotonic, align 8
  %b = call i32 @pthread_cond_broadcast(ptr @work)
  %n0 = call i32 @pthread_mutex_unlock(ptr @mutex)
  br label %go
go:
  %own = call i64 @units(i64 %epoch, ptr %task, ptr %frame, i64 %rounds, i64 %piece, i64 %unit, i64 %shares, i1 false)
  %theirs = sub i64 %units, %own
  %single = icmp eq i64 %theirs, 0
  br i1 %single, label %end, label %helped
helped:
  %h0 = load i64, ptr @helped
  %h1 = add i64 %h0, 1
  store i64 %h1, ptr @helped
  ; what helpers did in time says that there is a processor for them
  %d0 = load i64, ptr @distrust
  %d1 = sdiv i64 %cost, ${ALONE}
  %d2 = call i64 @llvm.usub.sat.i64(i64 %d0, i64 %d1)
  store i64 %d2, ptr @distrust
  %f0 = load atomic i64, ptr @finished acquire, align 8
  %over = icmp eq i64 %f0, %theirs
  br i1 %over, label %end, label %linger
linger:
  call void @spin(ptr @finished, i64 %theirs, i1 true)
  %f1 = load atomic i64, ptr @finished acquire, align 8
  %by_now = icmp eq i64 %f1, %theirs
  br i1 %by_now, label %end, label %late
late:
  %own_end = call i64 @now()
  %l1 = call i32 @pthread_mutex_lock(ptr @mutex)
  %i0 = atomicrmw xchg ptr @waits, i64 1 seq_cst
  br label %check
check:
  %f2 = load atomic i64, ptr @finished seq_cst, align 8
  %all_done = icmp eq i64 %f2, %theirs
  br i1 %all_done, label %waited, label %block
block:
  %w = call i32 @pthread_cond_wait(ptr @done, ptr @mutex)
  br label %check
waited:
  store atomic i64 0, ptr @waits monotonic, align 8
  %n1 = call i32 @pthread_mutex_unlock(ptr @mutex)
  ; longer than it worked itself: the system has others to run
  %end_time = call i64 @now()
  %lost = sub i64 %end_time, %own_end
  %measured = sub i64 %own_end, %begin
  %bound = add i64 %measured, ${LATE}
  %most_lost = select i1 %short, i64 0, i64 %bound
  %too_late = icmp sgt i64 %lost, %most_lost
  br i1 %too_late, label %rest, label %end
rest:
  %a_while = mul i64 %lost, ${ALONE}
  %d3 = shl i64 %d2, 1
  %d4 = call i64 @llvm.umax.i64(i64 %a_while, i64 %d3)
  %d5 = call i64 @llvm.umin.i64(i64 %d4, i64 ${LONGEST})
  %d6 = call i64 @llvm.umax.i64(i64 %a_while, i64 %d5)
  store i64 %d6, ptr @distrust
  %until = add i64 %end_time, %d6
  store atomic i64 %until, ptr @alone_until monotonic, align 8
  br label %end
end:
  store atomic i64 0, ptr @busy release, align 8
  br label %told
told:
  ret ptr @state
}
