;; the first place before (after) the elements that are equal
define internal i64 @search_$side.$t(ptr %a, i64 %stride, i64 %n, $t %x) nounwind {
entry:
  br label %test
test:
  %low = phi i64 [ 0, %entry ], [ %low1, %look ]
  %high = phi i64 [ %n, %entry ], [ %high1, %look ]
  %some = icmp ult i64 %low, %high
  br i1 %some, label %look, label %end
look:
  %sum = add i64 %low, %high
  %mid = lshr i64 %sum, 1
  %offset = mul i64 %mid, %stride
  %place = getelementptr $t, ptr %a, i64 %offset
  %y = load $t, ptr %place
  %go = call i1 @less.$t($t $first, $t $second)
  %right = xor i1 %go, $turned
  %after = add i64 %mid, 1
  %low1 = select i1 %right, i64 %after, i64 %low
  %high1 = select i1 %right, i64 %high, i64 %mid
  br label %test
end:
  ret i64 %low
}
