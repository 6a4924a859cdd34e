;; Fills its whole memory repeatedly: few instructions, much work.
;; verdict: LIMIT_TIME
;; via: swap
(func (export "cni:delegate/plugin@1.0.0#add") (param $request i32) (result i32)
  (drop (memory.grow (i32.const 200)))
  (loop $again
    (memory.fill (i32.const 0) (i32.const 1) (i32.mul (memory.size) (i32.const 65536)))
    (br $again))
  (i32.const 1024))
