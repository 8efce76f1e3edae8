;; tanh of a double, as that of a float in float_tanh: s and the polynomial have more bits. Within 2.7 units in the last
;; place.
define internal ${t} ${f}(${t} %x) alwaysinline nounwind willreturn memory(none) {
  %size = call ${t} @llvm.fabs.${s}(${t} %x)
  %far = fcmp olt ${t} 20.0, %size
  %a = select i1 %far, ${t} 20.0, ${t} %size
  ; what is added leaves the whole number in the last bits, with the bias of an exponent
  %shifted = call ${t} @llvm.fmuladd.${s}(${t} %a, ${t} 0x40071547652B82FE, ${t} 0x43380000000003FF)
  %bits = bitcast ${t} %shifted to ${i}
  %exponent = shl ${i} %bits, 52
  %s = bitcast ${i} %exponent to ${t}
  %n = fsub ${t} %shifted, 0x43380000000003FF
  %r = call ${t} @llvm.fmuladd.${s}(${t} %n, ${t} 0xBFD62E42FEFA39EF, ${t} %a)
  %q10 = call ${t} @llvm.fmuladd.${s}(${t} %r, ${t} 0x3EFAE6B99C27E73C, ${t} 0x3F228A1E2082E820)
  %q9 = call ${t} @llvm.fmuladd.${s}(${t} %q10, ${t} %r, ${t} 0x3F471DE8809408F6)
  %q8 = call ${t} @llvm.fmuladd.${s}(${t} %q9, ${t} %r, ${t} 0x3F6A019A76D14FFE)
  %q7 = call ${t} @llvm.fmuladd.${s}(${t} %q8, ${t} %r, ${t} 0x3F8A01A0175158A5)
  %q6 = call ${t} @llvm.fmuladd.${s}(${t} %q7, ${t} %r, ${t} 0x3FA6C16C17EDC6CF)
  %q5 = call ${t} @llvm.fmuladd.${s}(${t} %q6, ${t} %r, ${t} 0x3FC1111111118FA8)
  %q4 = call ${t} @llvm.fmuladd.${s}(${t} %q5, ${t} %r, ${t} 0x3FD55555555522B5)
  %q3 = call ${t} @llvm.fmuladd.${s}(${t} %q4, ${t} %r, ${t} 0x3FE5555555555539)
  %q2 = call ${t} @llvm.fmuladd.${s}(${t} %q3, ${t} %r, ${t} 0x3FF0000000000005)
  %square = fmul ${t} %r, %r
  %p = call ${t} @llvm.fmuladd.${s}(${t} %square, ${t} %q2, ${t} %r)
  %whole = call ${t} @llvm.fmuladd.${s}(${t} %s, ${t} 0.5, ${t} -0.5)
  %t = call ${t} @llvm.fmuladd.${s}(${t} %s, ${t} %p, ${t} %whole)
  %next = fadd ${t} %t, 1.0
  %y = fdiv ${t} %t, %next
  ; y is not negative, and the sign of nan is nobody's
  %result = bitcast ${t} %y to ${i}
  %given = bitcast ${t} %x to ${i}
  %sign = and ${i} %given, -9223372036854775808
  %signed = or ${i} %result, %sign
  %z = bitcast ${i} %signed to ${t}
  ret ${t} %z
}
