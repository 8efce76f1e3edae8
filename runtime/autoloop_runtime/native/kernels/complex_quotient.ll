;; x / y of complex numbers as NumPy computes it: by way of the quotient of the smaller and the larger part of y
define internal ${t} ${f}(${t} %x, ${t} %y) alwaysinline nounwind willreturn memory(none) {
  %xr = extractelement ${t} %x, i32 0
  %xi = extractelement ${t} %x, i32 1
  %yr = extractelement ${t} %y, i32 0
  %yi = extractelement ${t} %y, i32 1
  %ar = call ${r} @llvm.fabs.${s}(${r} %yr)
  %ai = call ${r} @llvm.fabs.${s}(${r} %yi)
  %real = fcmp oge ${r} %ar, %ai
  %p = select i1 %real, ${r} %yr, ${r} %yi
  %q = select i1 %real, ${r} %yi, ${r} %yr
  %u = select i1 %real, ${r} %xr, ${r} %xi
  %v = select i1 %real, ${r} %xi, ${r} %xr
  %ratio = fdiv ${r} %q, %p
  %part = fmul ${r} %q, %ratio
  %sum = fadd ${r} %p, %part
  %scale = fdiv ${r} 1.0, %sum
  %vq = fmul ${r} %v, %ratio
  %uq = fmul ${r} %u, %ratio
  %top = fadd ${r} %u, %vq
  %ahead = fsub ${r} %v, %uq
  %behind = fsub ${r} %uq, %v
  %side = select i1 %real, ${r} %ahead, ${r} %behind
  %re = fmul ${r} %top, %scale
  %im = fmul ${r} %side, %scale
  %zr = fcmp oeq ${r} %ar, 0.0
  %zi = fcmp oeq ${r} %ai, 0.0
  %zero = and i1 %zr, %zi
  %nr = fdiv ${r} %xr, %ar
  %ni = fdiv ${r} %xi, %ar
  %a = select i1 %zero, ${r} %nr, ${r} %re
  %b = select i1 %zero, ${r} %ni, ${r} %im
  %c = insertelement ${t} undef, ${r} %a, i32 0
  %z = insertelement ${t} %c, ${r} %b, i32 1
  ret ${t} %z
}
