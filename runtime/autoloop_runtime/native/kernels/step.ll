;; a step of a plan, called without the interpreter, which nobody in it asks for anything; its inputs and outputs lie in
;; memory whose addresses it is given
define internal i32 @autoloop_poll(ptr %thread) alwaysinline {
  ret i32 0
}

define i32 @${name}(ptr %in, ptr %out, ptr %scratch)${ATTRIBUTES} {
entry:
  %args = alloca [${ARGUMENTS} x i64], align 16
  %made = alloca [${RESULTS} x i64], align 16
  %report = alloca [${REPORT} x i64], align 16
  %thread = alloca i64
  %stacks = alloca i64
${GIVEN}
  %table = getelementptr ptr, ptr %in, i64 ${CONSTANTS}
  %words = getelementptr i64, ptr %report, i64 ${TOLD}
  %code = call i32 @body(ptr %args, ptr %table, ptr %made, ptr %thread, ptr %stacks, ptr %words, ptr %scratch)
  %failed = icmp ne i32 %code, 0
  br i1 %failed, label %done, label %give
give:
${GIVES}
  br label %done
done:
  ret i32 %code
}
