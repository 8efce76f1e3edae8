;; what Python calls with the objects of a call: it looks at them, runs machine code, and makes the objects of the
;; results; see ``entered_calls`` for the words of ``self``, and for what objects look like in memory
declare ptr @PyErr_Occurred()
declare ptr @PyObject_CallObject(ptr, ptr)
declare ptr @PyTuple_New(i64)
declare i32 @PyTuple_SetItem(ptr, i64, ptr)
declare i32 @PyList_Append(ptr, ptr)
declare ptr @PyFloat_FromDouble(double)
declare ptr @PyLong_FromLongLong(i64)
declare void @Py_IncRef(ptr)
declare void @Py_DecRef(ptr)
declare ptr @autoloop_empty(i32, ptr, ptr, i32)
declare ptr @autoloop_scalar(ptr, ptr, ptr)
declare void @llvm.memcpy.p0.p0.i64(ptr, ptr, i64, i1)

define internal i64 @word(ptr %at, i64 %k) alwaysinline {
  %place = getelementptr i64, ptr %at, i64 %k
  %found = load i64, ptr %place
  ret i64 %found
}

define internal ptr @pointer(ptr %at, i64 %k) alwaysinline {
  %place = getelementptr i64, ptr %at, i64 %k
  %found = load ptr, ptr %place
  ret ptr %found
}

; how many elements there are of such extents
define internal i64 @elements(ptr %dims, i64 %rank) {
entry:
  br label %axis
axis:
  %k = phi i64 [ 0, %entry ], [ %next, %times ]
  %all = phi i64 [ 1, %entry ], [ %more, %times ]
  %over = icmp eq i64 %k, %rank
  br i1 %over, label %done, label %times
times:
  %one = call i64 @word(ptr %dims, i64 %k)
  %more = mul i64 %all, %one
  %next = add i64 %k, 1
  br label %axis
done:
  ret i64 %all
}

; whether an extent that is none of those that came before may be the one with number k: that is put where code looks
define internal i1 @may_be(i64 %one, i64 %k, ptr %table, ptr %values) {
entry:
  %count = call i64 @word(ptr %table, i64 0)
  %bound.at = add i64 %k, 2
  %bound = call i64 @word(ptr %table, i64 %bound.at)
  %many = icmp ugt i64 %one, 1
  %few = icmp ule i64 %one, %bound
  %within = and i1 %many, %few
  br i1 %within, label %before, label %no
before:
  %j = phi i64 [ 0, %entry ], [ %next, %earlier ]
  %over = icmp eq i64 %j, %count
  br i1 %over, label %yes, label %earlier
earlier:
  %other = call i64 @word(ptr %values, i64 %j)
  %next = add i64 %j, 1
  %same = icmp eq i64 %one, %other
  br i1 %same, label %no, label %before
yes:
  %to = getelementptr i64, ptr %values, i64 %k
  store i64 %one, ptr %to
  ret i1 true
no:
  ret i1 false
}

; whether an argument is what its record says; an array's address, or a scalar's value, is put where code looks for it,
; and so are extents that come with a call, which are less than 0 in the record
define internal i1 @fits(ptr %object, ptr %record, ptr %words, ptr %table, ptr %values) {
entry:
  %type_at = getelementptr i8, ptr %object, i64 8
  %type = load i64, ptr %type_at
  %wanted = call i64 @word(ptr %record, i64 0)
  %same = icmp eq i64 %type, %wanted
  br i1 %same, label %typed, label %no
typed:
  %place = call i64 @word(ptr %record, i64 6)
  %to = getelementptr i8, ptr %words, i64 %place
  %descr = call i64 @word(ptr %record, i64 1)
  %scalar = icmp eq i64 %descr, 0
  br i1 %scalar, label %value, label %array
value:
  %from = getelementptr i8, ptr %object, i64 16
  %size = call i64 @word(ptr %record, i64 5)
  call void @llvm.memcpy.p0.p0.i64(ptr %to, ptr %from, i64 %size, i1 false)
  ret i1 true
array:
  store ptr %object, ptr %to
  %descr_at = getelementptr i8, ptr %object, i64 56
  %found = load i64, ptr %descr_at
  %kind = icmp eq i64 %found, %descr
  br i1 %kind, label %axes, label %no
axes:
  %nd_at = getelementptr i8, ptr %object, i64 24
  %nd32 = load i32, ptr %nd_at
  %nd = zext i32 %nd32 to i64
  %rank = call i64 @word(ptr %record, i64 2)
  %ranked = icmp eq i64 %nd, %rank
  br i1 %ranked, label %flags, label %no
flags:
  %flags_at = getelementptr i8, ptr %object, i64 64
  %flags32 = load i32, ptr %flags_at
  %all = zext i32 %flags32 to i64
  %needed = call i64 @word(ptr %record, i64 4)
  %there = and i64 %all, %needed
  %lies = icmp eq i64 %there, %needed
  br i1 %lies, label %extents, label %no
extents:
  %dims_at = getelementptr i8, ptr %object, i64 32
  %dims = load ptr, ptr %dims_at
  %known = call ptr @pointer(ptr %record, i64 3)
  br label %extent
extent:
  %k = phi i64 [ 0, %extents ], [ %next, %exact ], [ %next, %first ]
  %over = icmp eq i64 %k, %rank
  br i1 %over, label %many, label %compare
compare:
  %one = call i64 @word(ptr %dims, i64 %k)
  %said = call i64 @word(ptr %known, i64 %k)
  %next = add i64 %k, 1
  %fixed = icmp sge i64 %said, 0
  br i1 %fixed, label %exact, label %coming
coming:
  %e = xor i64 %said, -1
  %before = call i64 @word(ptr %values, i64 %e)
  %new = icmp eq i64 %before, 0
  br i1 %new, label %first, label %exact
first:
  %taken = call i1 @may_be(i64 %one, i64 %e, ptr %table, ptr %values)
  br i1 %taken, label %extent, label %no
exact:
  %other = phi i64 [ %said, %compare ], [ %before, %coming ]
  %equal = icmp eq i64 %one, %other
  br i1 %equal, label %extent, label %no
many:
  %most = call i64 @word(ptr %record, i64 5)
  %all.elements = call i64 @elements(ptr %dims, i64 %rank)
  %are.few = icmp ule i64 %all.elements, %most
  ret i1 %are.few
no:
  ret i1 false
}

; the arguments of what makes an array: a tuple of its extents, and its dtype; null where Python has raised
define internal ptr @form(ptr %dims, i64 %rank, ptr %descr) {
entry:
  %shape = call ptr @PyTuple_New(i64 %rank)
  %no.shape = icmp eq ptr %shape, null
  br i1 %no.shape, label %no, label %axis
axis:
  %k = phi i64 [ 0, %entry ], [ %next, %put ]
  %over = icmp eq i64 %k, %rank
  br i1 %over, label %both, label %one
one:
  %extent = call i64 @word(ptr %dims, i64 %k)
  %number = call ptr @PyLong_FromLongLong(i64 %extent)
  %no.number = icmp eq ptr %number, null
  br i1 %no.number, label %drop, label %put
put:
  %done = call i32 @PyTuple_SetItem(ptr %shape, i64 %k, ptr %number)
  %next = add i64 %k, 1
  br label %axis
both:
  %given = call ptr @PyTuple_New(i64 2)
  %no.given = icmp eq ptr %given, null
  br i1 %no.given, label %drop, label %fill
fill:
  %first = call i32 @PyTuple_SetItem(ptr %given, i64 0, ptr %shape)
  call void @Py_IncRef(ptr %descr)
  %second = call i32 @PyTuple_SetItem(ptr %given, i64 1, ptr %descr)
  ret ptr %given
drop:
  call void @Py_DecRef(ptr %shape)
  br label %no
no:
  ret ptr null
}

; the object of a result, a new reference; null where Python has raised
define internal ptr @result(ptr %record, ptr %args, ptr %made, ptr %out) {
entry:
  %kind = call i64 @word(ptr %record, i64 0)
  %x = call i64 @word(ptr %record, i64 1)
  %object = call ptr @pointer(ptr %record, i64 1)
  %slot = call i64 @word(ptr %record, i64 2)
  %at = getelementptr i64, ptr %out, i64 %slot
  switch i64 %kind, label %constant [ i64 0, label %array  i64 1, label %argument  i64 2, label %scalar
                                      i64 3, label %float  i64 4, label %int ]
array:
  %new = call ptr @pointer(ptr %made, i64 %x)
  br label %taken
argument:
  %given = call ptr @pointer(ptr %args, i64 %x)
  br label %taken
constant:
  br label %taken
taken:
  %found = phi ptr [ %new, %array ], [ %given, %argument ], [ %object, %constant ]
  call void @Py_IncRef(ptr %found)
  ret ptr %found
scalar:
  %number = call ptr @autoloop_scalar(ptr %at, ptr %object, ptr null)
  ret ptr %number
float:
  %real = load double, ptr %at
  %wrapped = call ptr @PyFloat_FromDouble(double %real)
  ret ptr %wrapped
int:
  %whole = load i64, ptr %at
  %boxed = call ptr @PyLong_FromLongLong(i64 %whole)
  ret ptr %boxed
}

define ptr @${name}(ptr %self, ptr %args, i64 %count) {
entry:
  %words = alloca [${WORDS} x i64], align 16
  %made = alloca [${MADE} x ptr], align 16
  %dims = alloca [${AXES} x i64], align 16
  %data_at = getelementptr i8, ptr %self, i64 16
  %d = load ptr, ptr %data_at
  %wanted = call i64 @word(ptr %d, i64 3)
  %enough = icmp eq i64 %count, %wanted
  %busy_at = getelementptr i64, ptr %d, i64 2
  %busy = load i64, ptr %busy_at
  %free = icmp eq i64 %busy, 0
  %ready = and i1 %enough, %free
  %table = call ptr @pointer(ptr %d, i64 10)
  %coming = call i64 @word(ptr %table, i64 0)
  %values.n = call i64 @word(ptr %table, i64 1)
  %values = getelementptr i64, ptr %words, i64 %values.n
  br i1 %ready, label %forget, label %again

forget:
  %f = phi i64 [ 0, %entry ], [ %f.next, %forgotten ]
  %none.left = icmp eq i64 %f, %coming
  br i1 %none.left, label %look, label %forgotten
forgotten:
  %value.at = getelementptr i64, ptr %values, i64 %f
  store i64 0, ptr %value.at
  %f.next = add i64 %f, 1
  br label %forget

look:
  %k = phi i64 [ 0, %forget ], [ %k.next, %fitting ], [ %k.next, %apart ]
  %looked = icmp eq i64 %k, %count
  br i1 %looked, label %take, label %ask
ask:
  %object = call ptr @pointer(ptr %args, i64 %k)
  %record.n = mul i64 %k, 8
  %record.w = add i64 %record.n, 16
  %record = getelementptr i64, ptr %d, i64 %record.w
  %k.next = add i64 %k, 1
  %fit = call i1 @fits(ptr %object, ptr %record, ptr %words, ptr %table, ptr %values)
  br i1 %fit, label %fitting, label %again
fitting:
  %distinct = call i64 @word(ptr %record, i64 7)
  %any = icmp eq i64 %distinct, 0
  br i1 %any, label %look, label %apart
apart:
  %j = phi i64 [ 0, %fitting ], [ %j.next, %other ]
  %compared = icmp eq i64 %j, %k
  br i1 %compared, label %look, label %other
other:
  %before = call ptr @pointer(ptr %args, i64 %j)
  %j.next = add i64 %j, 1
  %is = icmp eq ptr %before, %object
  br i1 %is, label %again, label %apart
again:
  %no = call ptr @pointer(ptr %d, i64 9)
  call void @Py_IncRef(ptr %no)
  ret ptr %no

take:
  store i64 1, ptr %busy_at
  %makes = call i64 @word(ptr %d, i64 4)
  %recipes = call ptr @pointer(ptr %d, i64 11)
  %first = call i64 @word(ptr %d, i64 13)
  br label %make
make:
  %m = phi i64 [ 0, %take ], [ %m.next, %keep ]
  %all.made = icmp eq i64 %m, %makes
  br i1 %all.made, label %run, label %recipe
recipe:
  %recipe.w = mul i64 %m, 6
  %how = getelementptr i64, ptr %recipes, i64 %recipe.w
  %maker = call ptr @pointer(ptr %how, i64 0)
  %rank = call i64 @word(ptr %how, i64 1)
  %shape = call ptr @pointer(ptr %how, i64 2)
  %descr = call ptr @pointer(ptr %how, i64 3)
  br label %size
size:
  %s = phi i64 [ 0, %recipe ], [ %s.next, %sized ]
  %all.sized = icmp eq i64 %s, %rank
  br i1 %all.sized, label %plainly, label %axis
axis:
  %told = call i64 @word(ptr %shape, i64 %s)
  %comes = icmp slt i64 %told, 0
  %which = xor i64 %told, -1
  %number = select i1 %comes, i64 %which, i64 0
  %came = call i64 @word(ptr %values, i64 %number)
  br label %sized
sized:
  %extent = select i1 %comes, i64 %came, i64 %told
  %extent.at = getelementptr i64, ptr %dims, i64 %s
  store i64 %extent, ptr %extent.at
  %s.next = add i64 %s, 1
  br label %size
plainly:
  %itemsize = call i64 @word(ptr %how, i64 4)
  %elements = call i64 @elements(ptr %dims, i64 %rank)
  %bytes.made = mul i64 %elements, %itemsize
  %over.fewest = icmp uge i64 %bytes.made, ${FEWEST}
  %under.most = icmp ule i64 %bytes.made, ${MOST}
  %worth = and i1 %over.fewest, %under.most
  %has.maker = icmp ne ptr %maker, null
  %aligned = and i1 %worth, %has.maker
  br i1 %aligned, label %asked, label %empty
empty:
  call void @Py_IncRef(ptr %descr)
  %rank32 = trunc i64 %rank to i32
  %emptied = call ptr @autoloop_empty(i32 %rank32, ptr %dims, ptr %descr, i32 0)
  br label %check
asked:
  %asked.for = call ptr @form(ptr %dims, i64 %rank, ptr %descr)
  %no.form = icmp eq ptr %asked.for, null
  br i1 %no.form, label %raised, label %answer.it
answer.it:
  %answered = call ptr @PyObject_CallObject(ptr %maker, ptr %asked.for)
  call void @Py_DecRef(ptr %asked.for)
  br label %check
check:
  %array = phi ptr [ %emptied, %empty ], [ %answered, %answer.it ]
  %none = icmp eq ptr %array, null
  br i1 %none, label %raised, label %keep
keep:
  %made.at = getelementptr ptr, ptr %made, i64 %m
  store ptr %array, ptr %made.at
  %word.n = add i64 %first, %m
  %word.at = getelementptr i64, ptr %words, i64 %word.n
  store ptr %array, ptr %word.at
  %m.next = add i64 %m, 1
  br label %make

run:
  %kernel = call ptr @pointer(ptr %d, i64 0)
  %memory = call ptr @pointer(ptr %d, i64 1)
  %code = call i32 %kernel(ptr %words, ptr %memory)
  %error = call ptr @PyErr_Occurred()
  %is.error = icmp ne ptr %error, null
  br i1 %is.error, label %raised, label %ran
ran:
  %fine = icmp eq i32 %code, 0
  br i1 %fine, label %give, label %failed

failed:
  %code64 = sext i32 %code to i64
  %code_at = getelementptr i64, ptr %d, i64 7
  store i64 %code64, ptr %code_at
  %owners = call ptr @pointer(ptr %d, i64 8)
  br label %own
own:
  %o = phi i64 [ 0, %failed ], [ %o.next, %owned ]
  %all.owned = icmp eq i64 %o, %makes
  br i1 %all.owned, label %tell, label %owned
owned:
  %mine = call ptr @pointer(ptr %made, i64 %o)
  %ignored = call i32 @PyList_Append(ptr %owners, ptr %mine)
  call void @Py_DecRef(ptr %mine)
  %o.next = add i64 %o, 1
  br label %own
tell:
  call void @Py_IncRef(ptr %self)
  ret ptr %self

give:
  %copies = call i64 @word(ptr %d, i64 14)
  %copied = call ptr @pointer(ptr %d, i64 15)
  br label %copy
copy:
  %p = phi i64 [ 0, %give ], [ %p.next, %move ]
  %all.copied = icmp eq i64 %p, %copies
  br i1 %all.copied, label %objects, label %move
move:
  %copy.w = mul i64 %p, 4
  %copy.at = getelementptr i64, ptr %copied, i64 %copy.w
  %to.n = call i64 @word(ptr %copy.at, i64 0)
  %from.n = call i64 @word(ptr %copy.at, i64 1)
  %each = call i64 @word(ptr %copy.at, i64 2)
  %to.array = call ptr @pointer(ptr %args, i64 %to.n)
  %from.array = call ptr @pointer(ptr %made, i64 %from.n)
  %to = call ptr @pointer(ptr %to.array, i64 2)
  %from = call ptr @pointer(ptr %from.array, i64 2)
  %to.nd_at = getelementptr i8, ptr %to.array, i64 24
  %to.nd32 = load i32, ptr %to.nd_at
  %to.nd = zext i32 %to.nd32 to i64
  %to.dims = call ptr @pointer(ptr %to.array, i64 4)
  %to.elements = call i64 @elements(ptr %to.dims, i64 %to.nd)
  %bytes = mul i64 %to.elements, %each
  call void @llvm.memcpy.p0.p0.i64(ptr %to, ptr %from, i64 %bytes, i1 false)
  %p.next = add i64 %p, 1
  br label %copy

objects:
  %out = getelementptr i64, ptr %memory, i64 2
  %results = call i64 @word(ptr %d, i64 5)
  %records = call ptr @pointer(ptr %d, i64 12)
  %several = call i64 @word(ptr %d, i64 6)
  %alone = icmp eq i64 %several, 0
  br i1 %alone, label %single, label %tuple
single:
  %only = call ptr @result(ptr %records, ptr %args, ptr %made, ptr %out)
  br label %clear
tuple:
  %packed = call ptr @PyTuple_New(i64 %results)
  %unpacked = icmp eq ptr %packed, null
  br i1 %unpacked, label %clear, label %item
item:
  %r = phi i64 [ 0, %tuple ], [ %r.next, %put ]
  %filled = icmp eq i64 %r, %results
  br i1 %filled, label %clear, label %next
next:
  %result.w = mul i64 %r, 4
  %result.at = getelementptr i64, ptr %records, i64 %result.w
  %one = call ptr @result(ptr %result.at, ptr %args, ptr %made, ptr %out)
  %lost = icmp eq ptr %one, null
  br i1 %lost, label %drop, label %put
put:
  %done = call i32 @PyTuple_SetItem(ptr %packed, i64 %r, ptr %one)
  %r.next = add i64 %r, 1
  br label %item
drop:
  call void @Py_DecRef(ptr %packed)
  br label %clear

raised:
  %m.made = phi i64 [ %m, %asked ], [ %m, %check ], [ %makes, %run ]
  br label %clear
clear:
  %answer = phi ptr [ %only, %single ], [ null, %tuple ], [ %packed, %item ], [ null, %drop ], [ null, %raised ]
  %left = phi i64 [ %makes, %single ], [ %makes, %tuple ], [ %makes, %item ], [ %makes, %drop ], [ %m.made, %raised ]
  br label %release
release:
  %c = phi i64 [ 0, %clear ], [ %c.next, %released ]
  %all.released = icmp eq i64 %c, %left
  br i1 %all.released, label %leave, label %released
released:
  %mine.too = call ptr @pointer(ptr %made, i64 %c)
  call void @Py_DecRef(ptr %mine.too)
  %c.next = add i64 %c, 1
  br label %release
leave:
  store i64 0, ptr %busy_at
  ret ptr %answer
}
