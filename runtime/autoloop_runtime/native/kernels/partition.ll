;; moves those of ``n`` elements (one or more) that stand in an order to ``%p`` to the front, and gives how many they
;; are; no step of it waits for a comparison. A long sort asks now and then whether the user wants to stop it (lines that
;; start with "s"; "m": a short one), and the answer is -1 then
define internal i64 @$part.$name(ptr %v, i64 %n, $t %p, ptr %thread, ptr %fuel) nounwind {
entry:
  br label %cut
cut:
  %first = phi i64 [ 0, %entry ], [ %end, %asked ]
  %found = phi i64 [ 0, %entry ], [ %j1, %asked ]
  %to = add i64 %first, $most
  %end = call i64 @llvm.umin.i64(i64 %to, i64 %n)
  br label %step
step:
  %i = phi i64 [ %first, %cut ], [ %i1, %step ]
  %j = phi i64 [ %found, %cut ], [ %j1, %step ]
  %vi = getelementptr $t, ptr %v, i64 %i
  %vj = getelementptr $t, ptr %v, i64 %j
  %x = load $t, ptr %vi, align $align
  %y = load $t, ptr %vj, align $align
  %stands = $order $t %x, %p
  store $t %y, ptr %vi, align $align
  store $t %x, ptr %vj, align $align
  %one = zext i1 %stands to i64
  %j1 = add i64 %j, %one
  %i1 = add i64 %i, 1
  %more = icmp ult i64 %i1, %end
  br i1 %more, label %step, label %tally
tally:
s  %here = sub i64 %end, %first
s  %told = call i32 @autoloop_spend(ptr %thread, ptr %fuel, i64 %here, i64 $most)
s  %unwanted = icmp ne i32 %told, 0
s  br i1 %unwanted, label %stopped, label %asked
m  br label %asked
asked:
  %over = icmp eq i64 %end, %n
  br i1 %over, label %done, label %cut
done:
  ret i64 %j1
s stopped:
s  ret i64 -1
}
