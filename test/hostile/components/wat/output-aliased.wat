;; Answers 4000 addresses that all point to the same 60000 bytes.
;; verdict: LIMIT_OUTPUT
(memory (export "memory") 16)
(func (export "cni:delegate/plugin@1.0.0#add") (param $request i32) (result i32) (local $i i32)
  (memory.fill (i32.const 500000) (i32.const 0x61) (i32.const 60000))
  (loop $again
    (i32.store (i32.add (i32.const 65536) (i32.mul (local.get $i) (i32.const 28))) (i32.const 500000))
    (i32.store offset=4 (i32.add (i32.const 65536) (i32.mul (local.get $i) (i32.const 28))) (i32.const 60000))
    (local.set $i (i32.add (local.get $i) (i32.const 1)))
    (br_if $again (i32.lt_u (local.get $i) (i32.const 4000))))
  (i32.store (i32.const 1036) (i32.const 65536))
  (i32.store (i32.const 1040) (i32.const 4000))
  (i32.const 1024))
