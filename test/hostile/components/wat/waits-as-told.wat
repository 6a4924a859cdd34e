;; Executes the order in a suspended import's answer: trap, loop for ever, wait again, or answer the order.
;; verdict: DELEGATE_FAILED
;; granted: log,state
;; declares: log,state
(import "cni:delegate/state@1.0.0" "load" (func $load (param i32 i32 i32 i32)))
(func (export "cni:delegate/plugin@1.0.0#add") (param $request i32) (result i32) (local $word i32)
  (loop $again
    (call $load (i32.const 0) (i32.const 0) (i32.const 0) (i32.const 2048))
    (local.set $word (i32.load8_u (i32.load (i32.const 2056))))
    (br_if $again (i32.eq (local.get $word) (i32.const 119)))
    (if (i32.eq (local.get $word) (i32.const 116)) (then (unreachable)))
    (loop $spin (br_if $spin (i32.eq (local.get $word) (i32.const 115)))))
  (i32.store8 (i32.const 1024) (i32.const 1))
  (i32.store (i32.const 1028) (i32.const 100))
  (i32.store (i32.const 1032) (i32.load (i32.const 2056)))
  (i32.store (i32.const 1036) (i32.load (i32.const 2060)))
  (i32.const 1024))
