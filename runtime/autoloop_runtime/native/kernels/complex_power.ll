;; x ** y of complex numbers as NumPy computes it: by squaring for integers between -100 and 100, else by the C library
define internal ${t} ${f}(${t} %x, ${t} %y) nounwind willreturn memory(none) {
entry:
  %xr = extractelement ${t} %x, i32 0
  %xi = extractelement ${t} %x, i32 1
  %yr = extractelement ${t} %y, i32 0
  %yi = extractelement ${t} %y, i32 1
  %is_real = fcmp oeq ${r} %yi, 0.0
  %no_real = fcmp oeq ${r} %yr, 0.0
  %one = and i1 %is_real, %no_real
  br i1 %one, label %nothing, label %some
nothing:
  ret ${t} <${r} 1.0, ${r} 0.0>
some:
  %zr = fcmp oeq ${r} %xr, 0.0
  %zi = fcmp oeq ${r} %xi, 0.0
  %zero = and i1 %zr, %zi
  br i1 %zero, label %of_zero, label %of_number
of_zero:
  %grows = fcmp ogt ${r} %yr, 0.0
  %part = select i1 %grows, ${r} 0.0, ${r} 0x7FF8000000000000
  %p = insertelement ${t} undef, ${r} %part, i32 0
  %parts = insertelement ${t} %p, ${r} %part, i32 1
  ret ${t} %parts
of_number:
  %size = call ${r} @llvm.fabs.${s}(${r} %yr)
  %below = fcmp olt ${r} %size, 100.0
  %floor = call ${r} @llvm.trunc.${s}(${r} %yr)
  %whole = fcmp oeq ${r} %floor, %yr
  %short = and i1 %below, %whole
  %squares = and i1 %short, %is_real
  br i1 %squares, label %count, label %library
count:
  %n = fptosi ${r} %size to i32
  switch i32 %n, label %loop [
    i32 1, label %first
    i32 2, label %first
    i32 3, label %first
  ]
first:
  %x0 = fmul ${r} %xr, %xr
  %x1 = fmul ${r} %xi, %xi
  %x2 = fmul ${r} %xr, %xi
  %x3 = fmul ${r} %xi, %xr
  %er = fsub ${r} %x0, %x1
  %ei = fadd ${r} %x2, %x3
  %y0 = fmul ${r} %xr, %er
  %y1 = fmul ${r} %xi, %ei
  %y2 = fmul ${r} %xr, %ei
  %y3 = fmul ${r} %xi, %er
  %cr = fsub ${r} %y0, %y1
  %ci = fadd ${r} %y2, %y3
  %is_two = fcmp oeq ${r} %yr, 2.0
  %is_one = fcmp oeq ${r} %yr, 1.0
  %ur = select i1 %is_two, ${r} %er, ${r} %cr
  %ui = select i1 %is_two, ${r} %ei, ${r} %ci
  %vr = select i1 %is_one, ${r} %xr, ${r} %ur
  %vi = select i1 %is_one, ${r} %xi, ${r} %ui
  %known = fcmp ogt ${r} %yr, 0.0
  %w = insertelement ${t} undef, ${r} %vr, i32 0
  %few = insertelement ${t} %w, ${r} %vi, i32 1
  br i1 %known, label %one_of_few, label %loop
one_of_few:
  ret ${t} %few
loop:
  %left = phi i32 [ %n, %count ], [ %n, %first ], [ %half, %loop ]
  %ar = phi ${r} [ 1.0, %count ], [ 1.0, %first ], [ %nr, %loop ]
  %ai = phi ${r} [ 0.0, %count ], [ 0.0, %first ], [ %ni, %loop ]
  %br = phi ${r} [ %xr, %count ], [ %xr, %first ], [ %sr, %loop ]
  %bi = phi ${r} [ %xi, %count ], [ %xi, %first ], [ %si, %loop ]
  %bit = and i32 %left, 1
  %odd = icmp ne i32 %bit, 0
  %m0 = fmul ${r} %ar, %br
  %m1 = fmul ${r} %ai, %bi
  %m2 = fmul ${r} %ar, %bi
  %m3 = fmul ${r} %ai, %br
  %mr = fsub ${r} %m0, %m1
  %mi = fadd ${r} %m2, %m3
  %nr = select i1 %odd, ${r} %mr, ${r} %ar
  %ni = select i1 %odd, ${r} %mi, ${r} %ai
  %q0 = fmul ${r} %br, %br
  %q1 = fmul ${r} %bi, %bi
  %q2 = fmul ${r} %br, %bi
  %sr = fsub ${r} %q0, %q1
  %si = fadd ${r} %q2, %q2
  %half = lshr i32 %left, 1
  %done = icmp eq i32 %half, 0
  br i1 %done, label %end, label %loop
end:
  %negative = fcmp olt ${r} %yr, 0.0
  %e = insertelement ${t} undef, ${r} %nr, i32 0
  %power = insertelement ${t} %e, ${r} %ni, i32 1
  br i1 %negative, label %invert, label %positive
positive:
  ret ${t} %power
invert:
  %inverse = call ${t} @divide_c.2x${r}(${t} <${r} 1.0, ${r} 0.0>, ${t} %power)
  ret ${t} %inverse
library:
  %found = call { ${r}, ${r} } @autoloop_cpow(${r} %xr, ${r} %xi, ${r} %yr, ${r} %yi)
  %fr = extractvalue { ${r}, ${r} } %found, 0
  %fi = extractvalue { ${r}, ${r} } %found, 1
  %c = insertelement ${t} undef, ${r} %fr, i32 0
  %z = insertelement ${t} %c, ${r} %fi, i32 1
  ret ${t} %z
}
