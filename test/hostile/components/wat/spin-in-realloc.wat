;; Loops for ever in its allocator.
;; verdict: LIMIT_TIME
(func (export "cabi_realloc") (param i32 i32 i32 i32) (result i32)
  (loop $again (br $again))
  (unreachable))
