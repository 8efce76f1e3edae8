;; The determinant of a matrix from its factors: the product of the pivots, or as NumPy has it, which takes longer and
;; rounds more, where one on the way to it is beyond the numbers of the type.
define internal double @determinant(ptr noalias %a, i32 %sign, i64 %n) nounwind {
entry:
  %singular = icmp eq i32 %sign, 0
  %start = sitofp i32 %sign to double
  %step = add nsw i64 %n, 1
  br i1 %singular, label %nothing, label %products
nothing:
  ret double 0.0
products:
  %k = phi i64 [ 0, %entry ], [ %k.next, %products ]
  %product = phi double [ %start, %entry ], [ %product.next, %products ]
  %fits = phi i1 [ true, %entry ], [ %fits.next, %products ]
  %at = mul nsw i64 %k, %step
  %place = getelementptr double, ptr %a, i64 %at
  %pivot = load double, ptr %place
  %product.next = fmul double %product, %pivot
  %size = call double @llvm.fabs.f64(double %product.next)
  %small = fcmp ult double %size, 0x0010000000000000
  %large = fcmp ugt double %size, 0x7FEFFFFFFFFFFFFF
  %beyond = or i1 %small, %large
  %fits.next = select i1 %beyond, i1 false, i1 %fits
  %k.next = add nsw i64 %k, 1
  %last = icmp eq i64 %k.next, %n
  br i1 %last, label %done, label %products
done:
  br i1 %fits.next, label %fine, label %logarithms
fine:
  ret double %product.next
logarithms:
  %i = phi i64 [ 0, %done ], [ %i.next, %logarithms ]
  %sum = phi double [ 0.0, %done ], [ %sum.next, %logarithms ]
  %turned = phi double [ %start, %done ], [ %turned.next, %logarithms ]
  %there = mul nsw i64 %i, %step
  %slot = getelementptr double, ptr %a, i64 %there
  %entry.i = load double, ptr %slot
  %unit = call double @llvm.copysign.f64(double 1.0, double %entry.i)
  %turned.next = fmul double %turned, %unit
  %abs = call double @llvm.fabs.f64(double %entry.i)
  %log = call double @llvm.log.f64(double %abs)
  %sum.next = fadd double %sum, %log
  %i.next = add nsw i64 %i, 1
  %end = icmp eq i64 %i.next, %n
  br i1 %end, label %power, label %logarithms
power:
  %exp = call double @llvm.exp.f64(double %sum.next)
  %value = fmul double %turned.next, %exp
  ret double %value
}
