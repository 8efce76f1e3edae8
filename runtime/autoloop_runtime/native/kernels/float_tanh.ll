;; tanh of a float, without a branch, so that loops do as many at once as a vector register holds: t / (t + 1) of
;; t = expm1(2 |x|) / 2 = s p + (s - 1) / 2, where s is a power of two and p is what is left of expm1, halved, as a
;; polynomial in r, |r| <= ln(2) / 4. Of all floats within 2.6 units in the last place (tests/benchmarks/own_parts.py
;; tanh); what is tiny is itself.
define internal ${t} ${f}(${t} %x) alwaysinline nounwind willreturn memory(none) {
  %size = call ${t} @llvm.fabs.${s}(${t} %x)
  %far = fcmp olt ${t} 10.0, %size
  %a = select i1 %far, ${t} 10.0, ${t} %size
  ; what is added leaves the whole number in the last bits, with the bias of an exponent
  %shifted = call ${t} @llvm.fmuladd.${s}(${t} %a, ${t} 0x4007154760000000, ${t} 12583039.0)
  %bits = bitcast ${t} %shifted to ${i}
  %exponent = shl ${i} %bits, 23
  %s = bitcast ${i} %exponent to ${t}
  %n = fsub ${t} %shifted, 12583039.0
  %r = call ${t} @llvm.fmuladd.${s}(${t} %n, ${t} 0xBFD62E4300000000, ${t} %a)
  %q5 = call ${t} @llvm.fmuladd.${s}(${t} %r, ${t} 0x3FA6BEC040000000, ${t} 0x3FC1227840000000)
  %q4 = call ${t} @llvm.fmuladd.${s}(${t} %q5, ${t} %r, ${t} 0x3FD5556740000000)
  %q3 = call ${t} @llvm.fmuladd.${s}(${t} %q4, ${t} %r, ${t} 0x3FE5554B00000000)
  %q2 = call ${t} @llvm.fmuladd.${s}(${t} %q3, ${t} %r, ${t} 0x3FEFFFFFE0000000)
  %square = fmul ${t} %r, %r
  %p = call ${t} @llvm.fmuladd.${s}(${t} %square, ${t} %q2, ${t} %r)
  %whole = call ${t} @llvm.fmuladd.${s}(${t} %s, ${t} 0.5, ${t} -0.5)
  %t = call ${t} @llvm.fmuladd.${s}(${t} %s, ${t} %p, ${t} %whole)
  %next = fadd ${t} %t, 1.0
  %y = fdiv ${t} %t, %next
  ; y is not negative, and the sign of nan is nobody's
  %result = bitcast ${t} %y to ${i}
  %given = bitcast ${t} %x to ${i}
  %sign = and ${i} %given, -2147483648
  %signed = or ${i} %result, %sign
  %z = bitcast ${i} %signed to ${t}
  ret ${t} %z
}
