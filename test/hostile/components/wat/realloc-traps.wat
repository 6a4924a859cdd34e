;; Traps in its allocator.
;; verdict: DELEGATE_TRAPPED
(func (export "cabi_realloc") (param i32 i32 i32 i32) (result i32) (unreachable))
