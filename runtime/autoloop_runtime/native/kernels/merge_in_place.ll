;; sorts ``n`` keys where they are, with memory for half of them: of two runs the second is put aside and merged from
;; behind; what is asked to stop (lines that start with "s") leaves all keys in the line
define internal i32 @merge.$name(ptr noalias %k, ptr noalias %k2, i64 %n, ptr %thread, ptr %fuel) nounwind {
entry:
  br label %runs
runs:
  %start = phi i64 [ 0, %entry ], [ %run_end, %run_done ]
  %to = add i64 %start, $run
  %run_end = call i64 @llvm.umin.i64(i64 %to, i64 %n)
  %second = add i64 %start, 1
  br label %insert
insert:
  %i = phi i64 [ %second, %runs ], [ %i1, %placed ]
  %run_over = icmp uge i64 %i, %run_end
  br i1 %run_over, label %tally, label %take
take:
  %ki = getelementptr $t, ptr %k, i64 %i
  %x = load $t, ptr %ki
  br label %sift
sift:
  %j = phi i64 [ %i, %take ], [ %j0, %shift ]
  %front = icmp eq i64 %j, %start
  br i1 %front, label %placed, label %look
look:
  %j0 = sub i64 %j, 1
  %kj0 = getelementptr $t, ptr %k, i64 %j0
  %y = load $t, ptr %kj0
  %before = call i1 @less.$t($t %x, $t %y)
  br i1 %before, label %shift, label %placed
shift:
  %kj = getelementptr $t, ptr %k, i64 %j
  store $t %y, ptr %kj
  br label %sift
placed:
  %kp = getelementptr $t, ptr %k, i64 %j
  store $t %x, ptr %kp
  %i1 = add i64 %i, 1
  br label %insert
tally:
s  %told = call i32 @autoloop_spend(ptr %thread, ptr %fuel, i64 $insertions, i64 $most)
s  %unwanted = icmp ne i32 %told, 0
s  br i1 %unwanted, label %stopped, label %run_done
m  br label %run_done
run_done:
  %more_runs = icmp ult i64 %run_end, %n
  br i1 %more_runs, label %runs, label %widths
widths:
  %width = phi i64 [ $run, %run_done ], [ %width2, %pass_done ]
  %merging = icmp ult i64 %width, %n
  br i1 %merging, label %pairs, label %end
pairs:
  %low = phi i64 [ 0, %widths ], [ %high, %merged ]
  %m0 = add i64 %low, %width
  %mid = call i64 @llvm.umin.i64(i64 %m0, i64 %n)
  %h0 = add i64 %mid, %width
  %high = call i64 @llvm.umin.i64(i64 %h0, i64 %n)
  %count = sub i64 %high, %mid
  %aside = getelementptr $t, ptr %k, i64 %mid
m  %bytes = mul i64 %count, $size
m  call void @llvm.memcpy.p0.p0.i64(ptr %k2, ptr %aside, i64 %bytes, i1 false)
m  br label %step
s  %is_aside = call i1 @asking_copy(ptr %k2, ptr %aside, i64 %count, i64 $size, ptr %thread, ptr %fuel)
s  br i1 %is_aside, label %cut, label %stopped
s cut:
s  %us = phi i64 [ %mid, %pairs ], [ %u, %asked ]
s  %vs = phi i64 [ %count, %pairs ], [ %v, %asked ]
s  br label %step
step:
s  %u = phi i64 [ %us, %cut ], [ %u1, %both ]
s  %v = phi i64 [ %vs, %cut ], [ %v1, %both ]
s  %done = phi i64 [ 0, %cut ], [ %done1, %both ]
m  %u = phi i64 [ %mid, %pairs ], [ %u1, %both ]
m  %v = phi i64 [ %count, %pairs ], [ %v1, %both ]
  %left_some = icmp ugt i64 %u, %low
  %right_some = icmp ne i64 %v, 0
  %two = and i1 %left_some, %right_some
s  %little = icmp ult i64 %done, $most
s  %on = and i1 %two, %little
s  br i1 %on, label %both, label %tally_merge
m  br i1 %two, label %both, label %rest
both:
  %u0 = sub i64 %u, 1
  %v0 = sub i64 %v, 1
  %au = getelementptr $t, ptr %k, i64 %u0
  %av = getelementptr $t, ptr %k2, i64 %v0
  %xu = load $t, ptr %au
  %xv = load $t, ptr %av
  %left = call i1 @less.$t($t %xv, $t %xu)
  %larger = select i1 %left, $t %xu, $t %xv
  %o = add i64 %u, %v0
  %bo = getelementptr $t, ptr %k, i64 %o
  store $t %larger, ptr %bo
  %u1 = select i1 %left, i64 %u0, i64 %u
  %v1 = select i1 %left, i64 %v, i64 %v0
s  %done1 = add i64 %done, 1
  br label %step
s tally_merge:
s  %said = call i32 @autoloop_spend(ptr %thread, ptr %fuel, i64 %done, i64 $most)
s  %no_more = icmp ne i32 %said, 0
s  br i1 %no_more, label %rest, label %asked
s asked:
s  br i1 %two, label %cut, label %rest
rest:
s  %stopping = phi i1 [ true, %tally_merge ], [ false, %asked ]
  %gap = getelementptr $t, ptr %k, i64 %u
  %rest_bytes = mul i64 %v, $size
  call void @llvm.memcpy.p0.p0.i64(ptr %gap, ptr %k2, i64 %rest_bytes, i1 false)
s  br i1 %stopping, label %stopped, label %merged
m  br label %merged
merged:
  %more = icmp ult i64 %high, %n
  br i1 %more, label %pairs, label %pass_done
pass_done:
  %width2 = mul i64 %width, 2
  br label %widths
end:
  ret i32 0
s stopped:
s  ret i32 1
}
