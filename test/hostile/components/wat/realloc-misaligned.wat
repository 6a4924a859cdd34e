;; Has an allocator that answers odd addresses.
;; verdict: ABI_VIOLATED
(func (export "cabi_realloc") (param i32 i32 i32 i32) (result i32) (i32.const 4097))
