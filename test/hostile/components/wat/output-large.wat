;; Answers a name of 8 MiB.
;; verdict: LIMIT_OUTPUT
(memory (export "memory") 200)
(func (export "cni:delegate/plugin@1.0.0#add") (param $request i32) (result i32) 
  (memory.fill (i32.const 65536) (i32.const 0x61) (i32.const 8388608))
  (i32.store (i32.const 2048) (i32.const 65536))
  (i32.store (i32.const 2052) (i32.const 8388608))
  (i32.store (i32.const 1028) (i32.const 2048))
  (i32.store (i32.const 1032) (i32.const 1))
  (i32.const 1024))
