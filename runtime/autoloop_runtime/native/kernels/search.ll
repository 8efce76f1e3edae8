;; the first place before (after) the elements that are equal, from one place to another; where the elements are in
;; another order, that is looked up (lines that start with "o"), and -1 says that it speaks of none
define internal i64 @search_$name(
  ptr %a, i64 %stride, i64 %n, ptr %order, i64 %apart, $t %x, i64 %from, i64 %to
) nounwind {
entry:
  br label %test
test:
  %low = phi i64 [ %from, %entry ], [ %low1, %look ]
  %high = phi i64 [ %to, %entry ], [ %high1, %look ]
  %some = icmp ult i64 %low, %high
  br i1 %some, label %$found, label %end
o ordered:
o   %sum0 = add i64 %low, %high
o   %mid0 = lshr i64 %sum0, 1
o   %at = mul i64 %mid0, %apart
o   %told = getelementptr i64, ptr %order, i64 %at
o   %index = load i64, ptr %told
o   %good = icmp ult i64 %index, %n
o   br i1 %good, label %look, label %lost
o lost:
o   ret i64 -1
look:
  %sum = add i64 %low, %high
  %mid = lshr i64 %sum, 1
  %offset = mul i64 $place, %stride
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

;; as NumPy looks for many keys: beside the place of the key before, which is another place in what is not sorted
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
  %is_first = icmp eq i64 %k, 0
  br i1 %is_first, label %search, label %beside
beside:
  %k0 = sub i64 %k, 1
  %last_at = getelementptr $t, ptr %keys, i64 %k0
  %y = load $t, ptr %last_at
  %go = call i1 @less.$t($t $first, $t $second)
  %right = xor i1 %go, $turned
  %before_at = getelementptr i64, ptr %out, i64 %k0
  %before = load i64, ptr %before_at
  %behind = add i64 %before, 1
  %within = call i64 @llvm.umin.i64(i64 %behind, i64 %n)
  %from0 = select i1 %right, i64 %before, i64 0
  %to0 = select i1 %right, i64 %n, i64 %within
  br label %search
search:
  %from = phi i64 [ 0, %key ], [ %from0, %beside ]
  %to = phi i64 [ %n, %key ], [ %to0, %beside ]
  %at = call i64 @search_$name(ptr %a, i64 %stride, i64 %n, ptr %order, i64 %apart, $t %x, i64 %from, i64 %to)
  %lost = icmp slt i64 %at, 0
  br i1 %lost, label %end, label %found
found:
  %out_at = getelementptr i64, ptr %out, i64 %k
  store i64 %at, ptr %out_at
  %k1 = add i64 %k, 1
  br label %test
end:
  %fine = phi i1 [ true, %test ], [ false, %search ]
  ret i1 %fine
}
