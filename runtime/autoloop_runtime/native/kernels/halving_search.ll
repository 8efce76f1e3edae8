;; as NumPy searches since 2.5: the part where the place is gets smaller by half at each step, whatever is found, which
;; is another place than before in what is not sorted; each key by itself. Else it is as in search.ll
define internal i64 @search_$name(
  ptr %a, i64 %stride, i64 %n, ptr %order, i64 %apart, $t %x, i64 %from, i64 %to
) nounwind {
entry:
  %none = icmp eq i64 %n, 0
  br i1 %none, label %end, label %test
test:
  %base = phi i64 [ 0, %entry ], [ %base1, %look ]
  %length = phi i64 [ %n, %entry ], [ %rest, %look ]
  %half = lshr i64 %length, 1
  %mid = add i64 %base, %half
  br label %$found
o ordered:
o   %at = mul i64 %mid, %apart
o   %told = getelementptr i64, ptr %order, i64 %at
o   %index = load i64, ptr %told
o   %good = icmp ult i64 %index, %n
o   br i1 %good, label %look, label %lost
o lost:
o   ret i64 -1
look:
  %offset = mul i64 $place, %stride
  %place = getelementptr $t, ptr %a, i64 %offset
  %y = load $t, ptr %place
  %go = call i1 @less.$t($t $first, $t $second)
  %right = xor i1 %go, $turned
  %is_last = icmp eq i64 %length, 1
  %step = select i1 %is_last, i64 1, i64 %half
  %after = add i64 %base, %step
  %base1 = select i1 %right, i64 %after, i64 %base
  %rest = sub i64 %length, %half
  br i1 %is_last, label %end, label %test
end:
  %found = phi i64 [ 0, %entry ], [ %base1, %look ]
  ret i64 %found
}

define internal i1 @search_all_$name(
  ptr %a, i64 %stride, i64 %n, ptr %order, i64 %apart, ptr %keys, ptr %out, i64 %start, i64 %count
) nounwind {
entry:
  %stop = add i64 %start, %count
  br label %test
test:
  %k = phi i64 [ %start, %entry ], [ %k1, %found ]
  %more = icmp ult i64 %k, %stop
  br i1 %more, label %key, label %end
key:
  %key_at = getelementptr $t, ptr %keys, i64 %k
  %x = load $t, ptr %key_at
  %at = call i64 @search_$name(ptr %a, i64 %stride, i64 %n, ptr %order, i64 %apart, $t %x, i64 0, i64 %n)
  %lost = icmp slt i64 %at, 0
  br i1 %lost, label %end, label %found
found:
  %out_at = getelementptr i64, ptr %out, i64 %k
  store i64 %at, ptr %out_at
  %k1 = add i64 %k, 1
  br label %test
end:
  %fine = phi i1 [ true, %test ], [ false, %key ]
  ret i1 %fine
}
