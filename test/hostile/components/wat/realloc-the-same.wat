;; Has an allocator that always answers the same address, which corrupts only the guest.
;; verdict: OK
(func (export "cabi_realloc") (param i32 i32 i32 i32) (result i32) (i32.const 4096))
