;; sorts ``n`` elements, none of them nan, where they are: quicksort, the pivot a median of three or of nine; what is
;; short by insertion, and from some depth on by a heap. A long sort asks now and then whether the user wants to stop it
;; (lines that start with "s"), and gives 1 then; where NumPy has a sort by vectors ("v") larger pieces are left to it
define internal i32 @quick_sort.$name(ptr %all, i64 %count, i64 %deepest, ptr %thread, ptr %fuel) nounwind {
entry:
  br label %piece
piece:
  %v = phi ptr [ %all, %entry ], [ %rest, %left_behind ], [ %larger, %smaller_done ]
  %n = phi i64 [ %count, %entry ], [ %rest_n, %left_behind ], [ %larger_n, %smaller_done ]
  %depth = phi i64 [ %deepest, %entry ], [ %depth1, %left_behind ], [ %depth1, %smaller_done ]
v  %many = sub i64 %n, $few1
v  %at_once = icmp ult i64 %many, $span
v  br i1 %at_once, label %by_vectors, label %here
v by_vectors:
v  %by = call i32 @$vectors(ptr %v, i64 %n, ptr null)
vs  %asked = call i32 @autoloop_spend(ptr %thread, ptr %fuel, i64 %n, i64 $most)
vs  ret i32 %asked
vm  ret i32 0
v here:
  %short = icmp ule i64 %n, $run
  br i1 %short, label %by_insertion, label %how
how:
  %depth1 = sub i64 %depth, 1
  %deep = icmp eq i64 %depth, 0
  br i1 %deep, label %by_heap, label %choose
choose:
  %before_last = sub i64 %n, 1
  %large = icmp ugt i64 %n, 128
  br i1 %large, label %of_nine, label %of_three
of_three:
  %step = lshr i64 %before_last, 1
  %p3 = call $t @median_in.$name(ptr %v, i64 %step)
  br label %divide
of_nine:
  %step9 = lshr i64 %before_last, 3
  %three = mul i64 %step9, 3
  %v3 = getelementptr $t, ptr %v, i64 %three
  %v6 = getelementptr $t, ptr %v3, i64 %three
  %ma = call $t @median_in.$name(ptr %v, i64 %step9)
  %mb = call $t @median_in.$name(ptr %v3, i64 %step9)
  %mc = call $t @median_in.$name(ptr %v6, i64 %step9)
  %p9 = call $t @median.$name($t %ma, $t %mb, $t %mc)
  br label %divide
divide:
  %p = phi $t [ %p3, %of_three ], [ %p9, %of_nine ]
  %j = call i64 @below.$name(ptr %v, i64 %n, $t %p, ptr %thread, ptr %fuel)
s  %no_more = icmp slt i64 %j, 0
s  br i1 %no_more, label %stopped, label %divided
s divided:
  %least = icmp eq i64 %j, 0
  br i1 %least, label %skip, label %both
skip:
  %equal = call i64 @up_to.$name(ptr %v, i64 %n, $t %p, ptr %thread, ptr %fuel)
s  %no_further = icmp slt i64 %equal, 0
s  br i1 %no_further, label %stopped, label %left_behind
m  br label %left_behind
left_behind:
  %rest = getelementptr $t, ptr %v, i64 %equal
  %rest_n = sub i64 %n, %equal
  br label %piece
both:
  %right = getelementptr $t, ptr %v, i64 %j
  %right_n = sub i64 %n, %j
  %is_left = icmp ult i64 %j, %right_n
  %smaller = select i1 %is_left, ptr %v, ptr %right
  %larger = select i1 %is_left, ptr %right, ptr %v
  %smaller_n = call i64 @llvm.umin.i64(i64 %j, i64 %right_n)
  %larger_n = call i64 @llvm.umax.i64(i64 %j, i64 %right_n)
  %told = call i32 @quick_sort.$name(ptr %smaller, i64 %smaller_n, i64 %depth1, ptr %thread, ptr %fuel)
s  %unwanted = icmp ne i32 %told, 0
s  br i1 %unwanted, label %stopped, label %smaller_done
m  br label %smaller_done
smaller_done:
  br label %piece
by_insertion:
  call void @insertion.$name(ptr %v, i64 %n)
  ret i32 0
by_heap:
  %heaped = call i32 @heap_sort.$name(ptr %v, i64 %n, ptr %thread, ptr %fuel)
  ret i32 %heaped
s stopped:
s  ret i32 1
}

define internal $t @median.$name($t %a, $t %b, $t %c) alwaysinline nounwind {
  %ab = $below $t %a, %b
  %low = select i1 %ab, $t %a, $t %b
  %high = select i1 %ab, $t %b, $t %a
  %hc = $below $t %high, %c
  %capped = select i1 %hc, $t %high, $t %c
  %lc = $below $t %low, %capped
  %r = select i1 %lc, $t %capped, $t %low
  ret $t %r
}

define internal $t @median_in.$name(ptr %v, i64 %step) alwaysinline nounwind {
  %vb = getelementptr $t, ptr %v, i64 %step
  %vc = getelementptr $t, ptr %vb, i64 %step
  %a = load $t, ptr %v, align $align
  %b = load $t, ptr %vb, align $align
  %c = load $t, ptr %vc, align $align
  %r = call $t @median.$name($t %a, $t %b, $t %c)
  ret $t %r
}

define internal void @insertion.$name(ptr %v, i64 %n) nounwind {
entry:
  br label %insert
insert:
  %i = phi i64 [ 1, %entry ], [ %i1, %placed ]
  %over = icmp uge i64 %i, %n
  br i1 %over, label %done, label %take
take:
  %vi = getelementptr $t, ptr %v, i64 %i
  %x = load $t, ptr %vi, align $align
  br label %sift
sift:
  %j = phi i64 [ %i, %take ], [ %j0, %shift ]
  %front = icmp eq i64 %j, 0
  br i1 %front, label %placed, label %look
look:
  %j0 = sub i64 %j, 1
  %vj0 = getelementptr $t, ptr %v, i64 %j0
  %y = load $t, ptr %vj0, align $align
  %before = $below $t %x, %y
  br i1 %before, label %shift, label %placed
shift:
  %vj = getelementptr $t, ptr %v, i64 %j
  store $t %y, ptr %vj, align $align
  br label %sift
placed:
  %vp = getelementptr $t, ptr %v, i64 %j
  store $t %x, ptr %vp, align $align
  %i1 = add i64 %i, 1
  br label %insert
done:
  ret void
}

define internal i32 @heap_sort.$name(ptr %v, i64 %n, ptr %thread, ptr %fuel) nounwind {
entry:
  %half = lshr i64 %n, 1
  %most = add i64 %half, %n
  %rounds = sub i64 %most, 1
  br label %round
round:
  %k = phi i64 [ 0, %entry ], [ %k1, %next ]
  %k1 = add i64 %k, 1
  %building = icmp ult i64 %k, %half
  br i1 %building, label %build, label %take
build:
  %root = sub i64 %half, %k1
  %vr = getelementptr $t, ptr %v, i64 %root
  %xr = load $t, ptr %vr, align $align
  call void @into_heap.$name(ptr %v, i64 %root, i64 %n, $t %xr)
  br label %sifted
take:
  %end = sub i64 %most, %k1
  %ve = getelementptr $t, ptr %v, i64 %end
  %xe = load $t, ptr %ve, align $align
  %top = load $t, ptr %v, align $align
  store $t %top, ptr %ve, align $align
  call void @into_heap.$name(ptr %v, i64 0, i64 %end, $t %xe)
  br label %sifted
sifted:
s  %told = call i32 @autoloop_spend(ptr %thread, ptr %fuel, i64 $levels, i64 $most)
s  %unwanted = icmp ne i32 %told, 0
s  br i1 %unwanted, label %stopped, label %next
m  br label %next
next:
  %over = icmp eq i64 %k1, %rounds
  br i1 %over, label %done, label %round
done:
  ret i32 0
s stopped:
s  ret i32 1
}

define internal void @into_heap.$name(ptr %v, i64 %root, i64 %n, $t %x) nounwind {
entry:
  br label %down
down:
  %at = phi i64 [ %root, %entry ], [ %child, %move ]
  %hole = getelementptr $t, ptr %v, i64 %at
  %twice = shl i64 %at, 1
  %left = add i64 %twice, 1
  %right = add i64 %twice, 2
  %some = icmp ult i64 %left, %n
  br i1 %some, label %look, label %place
look:
  %two = icmp ult i64 %right, %n
  br i1 %two, label %both, label %chosen
both:
  %vl = getelementptr $t, ptr %v, i64 %left
  %vr = getelementptr $t, ptr %v, i64 %right
  %l = load $t, ptr %vl, align $align
  %r = load $t, ptr %vr, align $align
  %is_right = $below $t %l, %r
  %larger = select i1 %is_right, i64 %right, i64 %left
  br label %chosen
chosen:
  %child = phi i64 [ %left, %look ], [ %larger, %both ]
  %vc = getelementptr $t, ptr %v, i64 %child
  %c = load $t, ptr %vc, align $align
  %up = $below $t %x, %c
  br i1 %up, label %move, label %place
move:
  store $t %c, ptr %hole, align $align
  br label %down
place:
  store $t %x, ptr %hole, align $align
  ret void
}
