;; Answers an error whose message is the text of a suspended import's answer.
;; verdict: DELEGATE_FAILED
;; granted: log,state
;; declares: log,state
(import "cni:delegate/state@1.0.0" "load" (func $load (param i32 i32 i32 i32)))
(func (export "cni:delegate/plugin@1.0.0#add") (param $request i32) (result i32)
  (call $load (i32.const 0) (i32.const 0) (i32.const 0) (i32.const 2048))
  (i32.store8 (i32.const 1024) (i32.const 1))
  (i32.store (i32.const 1028) (i32.const 100))
  (i32.store (i32.const 1032) (i32.load (i32.const 2056)))
  (i32.store (i32.const 1036) (i32.load (i32.const 2060)))
  (i32.const 1024))
