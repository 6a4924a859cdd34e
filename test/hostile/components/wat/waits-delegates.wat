;; Calls another plugin and answers that plugin's result.
;; verdict: OK
;; granted: log,delegation
;; declares: log,delegation
(import "cni:delegate/delegation@1.0.0" "status" (func $status (param i32 i32 i32 i32 i32 i32)))
(data (i32.const 16) "other")
(func (export "cni:delegate/plugin@1.0.0#add") (param $request i32) (result i32)
  (call $status (i32.const 16) (i32.const 5) (i32.const 0) (i32.const 0) (i32.const 0) (i32.const 1024))
  (i32.const 1024))
