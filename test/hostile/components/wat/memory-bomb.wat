;; Grows its memory page by page, writes to each page, and traps when memory.grow fails.
;; verdict: LIMIT_MEMORY
(func (export "cni:delegate/plugin@1.0.0#add") (param $request i32) (result i32) (local $page i32)
  (loop $again
    (local.set $page (memory.grow (i32.const 1)))
    (if (i32.eq (local.get $page) (i32.const -1)) (then (unreachable)))
    (i32.store (i32.mul (local.get $page) (i32.const 65536)) (i32.const -1))
    (br $again))
  (unreachable))
