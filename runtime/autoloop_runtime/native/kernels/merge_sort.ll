;; sorts ``n`` keys; where positions are wanted they move along (lines that start with "p"); a long sort asks now and
;; then whether the user wants to stop it (lines that start with "s"), also in the middle of a merge and of a copy (a
;; short one has the lines that start with "m"; "ps", "pm": where both hold)
define internal i32 @sort.$name(
  ptr noalias %k, ptr noalias %k2, ptr noalias %p, ptr noalias %p2, i64 %n, ptr %thread, ptr %fuel
) nounwind {
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
  br i1 %run_over, label %$run_over, label %take
take:
  %ki = getelementptr $t, ptr %k, i64 %i
  %x = load $t, ptr %ki
p  %pi = getelementptr i64, ptr %p, i64 %i
p  %xp = load i64, ptr %pi
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
p  %pj0 = getelementptr i64, ptr %p, i64 %j0
p  %yp = load i64, ptr %pj0
p  %pj = getelementptr i64, ptr %p, i64 %j
p  store i64 %yp, ptr %pj
  br label %sift
placed:
  %kp = getelementptr $t, ptr %k, i64 %j
  store $t %x, ptr %kp
p  %pp = getelementptr i64, ptr %p, i64 %j
p  store i64 %xp, ptr %pp
  %i1 = add i64 %i, 1
  br label %insert
s tally:
s  %told = call i32 @autoloop_spend(ptr %thread, ptr %fuel, i64 $insertions, i64 $most)
s  %unwanted = icmp ne i32 %told, 0
s  br i1 %unwanted, label %stopped, label %run_done
run_done:
  %more_runs = icmp ult i64 %run_end, %n
  br i1 %more_runs, label %runs, label %widths
widths:
  %width = phi i64 [ $run, %run_done ], [ %width2, %pass_done ]
  %a = phi ptr [ %k, %run_done ], [ %b, %pass_done ]
  %b = phi ptr [ %k2, %run_done ], [ %a, %pass_done ]
p  %q = phi ptr [ %p, %run_done ], [ %r, %pass_done ]
p  %r = phi ptr [ %p2, %run_done ], [ %q, %pass_done ]
  %merging = icmp ult i64 %width, %n
  br i1 %merging, label %pairs, label %finish
pairs:
  %low = phi i64 [ 0, %widths ], [ %high, %merged ]
  %m0 = add i64 %low, %width
  %mid = call i64 @llvm.umin.i64(i64 %m0, i64 %n)
  %h0 = add i64 %mid, %width
  %high = call i64 @llvm.umin.i64(i64 %h0, i64 %n)
  br label %$cut
s cut:
s  %us = phi i64 [ %low, %pairs ], [ %u, %asked ]
s  %vs = phi i64 [ %mid, %pairs ], [ %v, %asked ]
s  %os = phi i64 [ %low, %pairs ], [ %o, %asked ]
s  %u2 = add i64 %us, $half
s  %v2 = add i64 %vs, $half
s  %u3 = call i64 @llvm.umin.i64(i64 %u2, i64 %mid)
s  %v3 = call i64 @llvm.umin.i64(i64 %v2, i64 %high)
s  br label %step
step:
  %u = phi i64 [ %$low, %$before ], [ %u1, %both ]
  %v = phi i64 [ %$mid, %$before ], [ %v1, %both ]
  %o = phi i64 [ %$out, %$before ], [ %o1, %both ]
  %left_some = icmp ult i64 %u, %$left_end
  %right_some = icmp ult i64 %v, %$right_end
  %two = and i1 %left_some, %right_some
  br i1 %two, label %both, label %$merge_over
both:
  %au = getelementptr $t, ptr %a, i64 %u
  %av = getelementptr $t, ptr %a, i64 %v
  %xu = load $t, ptr %au
  %xv = load $t, ptr %av
  %right = call i1 @less.$t($t %xv, $t %xu)
  %chosen = select i1 %right, $t %xv, $t %xu
  %bo = getelementptr $t, ptr %b, i64 %o
  store $t %chosen, ptr %bo
p  %from = select i1 %right, i64 %v, i64 %u
p  %qf = getelementptr i64, ptr %q, i64 %from
p  %xq = load i64, ptr %qf
p  %ro = getelementptr i64, ptr %r, i64 %o
p  store i64 %xq, ptr %ro
  %right_n = zext i1 %right to i64
  %left_n = xor i64 %right_n, 1
  %u1 = add i64 %u, %left_n
  %v1 = add i64 %v, %right_n
  %o1 = add i64 %o, 1
  br label %step
s tally_merge:
s  %merged_here = sub i64 %o, %os
s  %said = call i32 @autoloop_spend(ptr %thread, ptr %fuel, i64 %merged_here, i64 $most)
s  %no_more = icmp ne i32 %said, 0
s  br i1 %no_more, label %stopped, label %asked
s asked:
s  %left_more = icmp ult i64 %u, %mid
s  %right_more = icmp ult i64 %v, %high
s  %two_more = and i1 %left_more, %right_more
s  br i1 %two_more, label %cut, label %rest
rest:
  %left_last = icmp ult i64 %u, %mid
  %tail = select i1 %left_last, i64 %u, i64 %v
  %tail_end = select i1 %left_last, i64 %mid, i64 %high
  %count = sub i64 %tail_end, %tail
  %at = getelementptr $t, ptr %a, i64 %tail
  %bt = getelementptr $t, ptr %b, i64 %o
p  %qt = getelementptr i64, ptr %q, i64 %tail
p  %rt = getelementptr i64, ptr %r, i64 %o
m  %bytes = mul i64 %count, $size
m  call void @llvm.memcpy.p0.p0.i64(ptr %bt, ptr %at, i64 %bytes, i1 false)
pm  %words = mul i64 %count, 8
pm  call void @llvm.memcpy.p0.p0.i64(ptr %rt, ptr %qt, i64 %words, i1 false)
m  br label %merged
s  %keys_copied = call i1 @asking_copy(ptr %bt, ptr %at, i64 %count, i64 $size, ptr %thread, ptr %fuel)
s  br i1 %keys_copied, label %keys_there, label %stopped
s keys_there:
ps  %places_copied = call i1 @asking_copy(ptr %rt, ptr %qt, i64 %count, i64 8, ptr %thread, ptr %fuel)
ps  br i1 %places_copied, label %places_there, label %stopped
ps places_there:
s  br label %merged
merged:
  %more = icmp ult i64 %high, %n
  br i1 %more, label %pairs, label %pass_done
pass_done:
  %width2 = mul i64 %width, 2
  br label %widths
finish:
  %home = icmp eq ptr %a, %k
  br i1 %home, label %end, label %move
move:
m  %all = mul i64 %n, $size
m  call void @llvm.memcpy.p0.p0.i64(ptr %k, ptr %a, i64 %all, i1 false)
pm  %places = mul i64 %n, 8
pm  call void @llvm.memcpy.p0.p0.i64(ptr %p, ptr %q, i64 %places, i1 false)
m  br label %end
s  %keys_moved = call i1 @asking_copy(ptr %k, ptr %a, i64 %n, i64 $size, ptr %thread, ptr %fuel)
s  br i1 %keys_moved, label %keys_home, label %stopped
s keys_home:
ps  %places_moved = call i1 @asking_copy(ptr %p, ptr %q, i64 %n, i64 8, ptr %thread, ptr %fuel)
ps  br i1 %places_moved, label %places_home, label %stopped
ps places_home:
s  br label %end
end:
  ret i32 0
s stopped:
s  ret i32 1
}
